load {{table}} :doc;
