import rxjsX from 'eslint-plugin-rxjs-x';
import prettier from 'eslint-config-prettier';
import tseslint from 'typescript-eslint';

/** Rooms in which the only clock is RxJS's, so that they live in virtual time (docs/architecture.md, "Time"). */
const VIRTUAL_TIME = [
  'src/operators/**/*.ts',
  'src/streams/**/*.ts',
  'src/sources/**/*.ts',
  'src/simulation/**/*.ts',
  'src/model/**/*.ts',
  'src/runtime/*.ts',
  'src/runtime/plan/**/*.ts',
];

const NO_PROMISES = [
  { selector: ':function[async=true]', message: 'A Promise cannot be cancelled and does not live in virtual time.' },
  { selector: 'AwaitExpression', message: 'A Promise cannot be cancelled and does not live in virtual time.' },
  {
    selector: "Identifier[name='Promise']",
    message: 'A Promise cannot be cancelled and does not live in virtual time.',
  },
];
const ONE_SUBSCRIBER = {
  selector: "CallExpression[callee.property.name='subscribe']",
  message: 'Only main.ts subscribes.',
};

export default tseslint.config(
  {
    ignores: [
      'dist/**',
      'coverage/**',
      '**/*.mjs',
      '**/*.cjs',
      '*.js',
      'src/model/cri/api.ts',
      'src/runtime/cri/descriptor.ts',
      'src/model/schema/pod-schema.ts',
    ],
  },
  ...tseslint.configs.strictTypeChecked,
  ...tseslint.configs.stylisticTypeChecked,
  rxjsX.configs.strict,
  {
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      // To name what is left out, or not looked at.
      '@typescript-eslint/no-unused-vars': [
        'error',
        { ignoreRestSiblings: true, argsIgnorePattern: '^_', varsIgnorePattern: '^_$' },
      ],
      'rxjs-x/finnish': [
        'error',
        {
          functions: false,
          methods: false,
          properties: false,
          objects: false,
          parameters: false,
          variables: true,
          strict: true,
          types: { '^(Behavior|Replay)?Subject$': false },
        },
      ],
      // What was caught may be anything; it is thrown on as it came.
      'rxjs-x/throw-error': ['error', { allowThrowingAny: false, allowThrowingUnknown: true }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/consistent-type-definitions': ['error', 'interface'],
    },
  },
  {
    files: VIRTUAL_TIME,
    rules: {
      'no-restricted-globals': ['error', 'setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask', 'performance'],
      'no-restricted-properties': ['error', { object: 'Date', property: 'now' }],
      'no-restricted-syntax': ['error', ...NO_PROMISES, ONE_SUBSCRIBER],
    },
  },
  {
    // Operators subscribe to their source for whoever has subscribed to them.
    files: ['src/operators/*.ts'],
    rules: { 'no-restricted-syntax': ['error', ...NO_PROMISES] },
  },
  {
    files: ['src/**/*.ts'],
    ignores: ['src/main.ts', ...VIRTUAL_TIME],
    rules: { 'no-restricted-syntax': ['error', ONE_SUBSCRIBER] },
  },
  {
    files: ['test/**/*.ts', 'bench/**/*.ts', 'vitest.config.ts'],
    rules: {
      // To name what is left out, or not looked at.
      '@typescript-eslint/no-unused-vars': [
        'error',
        { ignoreRestSiblings: true, argsIgnorePattern: '^_', varsIgnorePattern: '^_$' },
      ],
      'rxjs-x/finnish': 'off',
      'rxjs-x/no-ignored-subscription': 'off',
      'rxjs-x/no-ignored-default-value': 'off',
    },
  },
  prettier,
);
