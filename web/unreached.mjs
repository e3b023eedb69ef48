// Removes dependencies of the chart library that no chart of the page uses. They make up a tenth of the page.

/** Why each library is not needed, and its functions that importers call while loading (only for maps). */
const UNREACHED = {
  'd3-geo': { because: 'the page draws no maps', atLoad: ['geoTransform'] },
  'd3-scale-chromatic': { because: 'the page has colours of its own', atLoad: [] },
};

/**
 * esbuild plugin that replaces these libraries by stubs with the same exports, which throw an explanation if
 * called.
 */
export const unreached = {
  name: 'unreached',
  setup(build) {
    const namespace = 'unreached';
    build.onResolve({ filter: /^d3-/ }, ({ path }) => (Object.hasOwn(UNREACHED, path) ? { path, namespace } : undefined));
    build.onLoad({ filter: /.*/, namespace }, async ({ path }) => {
      const { because, atLoad } = UNREACHED[path];
      const message = JSON.stringify(`${path} was left out (web/unreached.mjs): ${because}`);
      const names = Object.keys(await import(path)).map((name) => `${atLoad.includes(name) ? 'nothing' : 'missing'} as ${name}`);
      const contents = `const nothing = () => {}; const missing = () => { throw new Error(${message}); }; export { ${names.join(', ')} };`;
      return { contents };
    });
  },
};
