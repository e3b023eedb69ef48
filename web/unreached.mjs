// Libraries that the charts' library imports and that no chart of the page reaches. They are a tenth of the page.

/** Why each is not needed, and what importers call of it as soon as they are loaded, for maps alone. */
const UNREACHED = {
  'd3-geo': { because: 'the page draws no maps', atLoad: ['geoTransform'] },
  'd3-scale-chromatic': { because: 'the page has colours of its own', atLoad: [] },
};

/** In their place: the same names, which say what is missing where one is called after all. */
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
