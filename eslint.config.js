import { defineConfig, globalIgnores } from 'eslint/config';
import rxjs from 'eslint-plugin-rxjs-x';
import tseslint from 'typescript-eslint';

export default defineConfig(
  globalIgnores(['dist', 'coverage', 'build', 'node_modules']),
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked, rxjs.configs.strict],
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-extraneous-class': ['error', { allowWithDecorator: true }],
      complexity: ['error', 12],
      'max-depth': ['error', 3],
      'max-lines': ['error', { max: 400, skipBlankLines: true, skipComments: true }],
      'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }],
      'max-params': ['error', 4],
      'no-console': 'error',
      'rxjs-x/finnish': ['error', { functions: false, methods: false, parameters: false, variables: false }],
      'rxjs-x/prefer-observer': 'off',
    },
  },
  {
    // The byte-level hot paths of the engine are flat on purpose: a call or an allocation per byte or per
    // request is what they must not have. They keep the file and parameter limits.
    files: ['src/engine/{wire,http1,http2}/**/*.ts'],
    rules: { complexity: ['error', 40], 'max-lines-per-function': ['error', 120], 'max-depth': ['error', 5] },
  },
  {
    files: ['test/**/*.ts'],
    rules: {
      'max-lines-per-function': 'off',
      '@typescript-eslint/no-unused-expressions': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
    },
  },
  { files: ['test/**/*.ts', 'hack/**/*.ts', 'src/cli/**/*.ts'], rules: { 'no-console': 'off' } },
);
