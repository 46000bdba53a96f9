module.exports = [
  {
    languageOptions: {
      sourceType: 'commonjs',
      globals: { require: 'readonly', module: 'writable', describe: 'readonly', it: 'readonly' },
    },
    rules: { 'no-undef': 'error', 'no-unused-vars': 'error', eqeqeq: 'error', 'no-unreachable': 'error' },
  },
];
