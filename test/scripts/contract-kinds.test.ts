/** Each kind of schema change, in both directions: breaking changes, and equivalent spellings. */
import { expect, test } from 'vitest'
import type { JsonSchema } from '#runtime/documents/publish'
import { compareContracts } from '#scripts/contract/changes'
import { buildContract, field, named } from './contract-fixtures.ts'

/**
 * Requests break from the first schema to the second, answers from the second to the first: each kind in both
 * directions.
 */
const kinds: [name: string, wide: JsonSchema, narrow: JsonSchema, sent: string, answered: string][] = [
  ['null', { type: ['string', 'null'] }, { type: 'string' }, 'may no longer be null', 'may be null now'],
  ['a type', { type: 'number' }, { type: 'integer' }, 'may no longer be number', 'may be number now'],
  ['anything', {}, { type: 'string' }, 'may no longer be anything', 'may be anything now'],
  [
    'a value',
    { type: 'string', enum: ['a', 'b'] },
    { type: 'string', enum: ['a'] },
    'may no longer be "b"',
    'may be "b" now',
  ],
  ['values', { type: 'string' }, { type: 'string', const: 'a' }, 'may no longer be any', 'may be any now'],
  ...[
    ['maxLength', 9, 5],
    ['maximum', 9, 5],
    ['maxItems', 9, 5],
    ['maxProperties', 9, 5],
    ['exclusiveMaximum', 9, 5],
    ['minLength', 1, 2],
    ['minimum', 1, 2],
    ['minItems', 1, 2],
    ['minProperties', 1, 2],
    ['exclusiveMinimum', 1, 2],
  ].flatMap(([key, wide, narrow]): typeof kinds => {
    const of = {
      type: `${key}`.endsWith('Items') ? 'array' : `${key}`.endsWith('Properties') ? 'object' : 'number',
    }
    const type = `${key}`.endsWith('Length') ? { type: 'string' } : of
    const describeChange = (from: unknown, to: unknown): [string, string] => [
      `is bounded more narrowly: ${key} ${from} → ${to}`,
      `goes beyond its bound: ${key} ${to} → ${from}`,
    ]
    return [
      [`${key}`, { ...type, [key!]: wide }, { ...type, [key!]: narrow }, ...describeChange(wide, narrow)],
      [`no ${key}`, type, { ...type, [key!]: narrow }, ...describeChange('none', narrow)],
    ]
  }),
  ...['pattern', 'format', 'contentEncoding'].map((key): (typeof kinds)[number] => [
    key,
    { type: 'string' },
    { type: 'string', [key]: 'x, y' },
    `must have another form: ${key} none → "x, y"`,
    `has another form: ${key} "x, y" → none`,
  ]),
  [
    'half of yes and no',
    { type: 'boolean' },
    { type: 'boolean', enum: [true] },
    'may no longer be false',
    'may be false now',
  ],
  [
    'null among the values',
    { type: ['string', 'null'], enum: ['a', null] },
    { type: ['string', 'null'], enum: ['a'] },
    'may no longer be null',
    'may be null now',
  ],
  [
    'a value of a choice',
    { anyOf: [{ const: 'a' }, { const: 1 }, { type: 'boolean' }] },
    { anyOf: [{ const: 'a' }, { type: 'boolean' }] },
    'may no longer be integer',
    'may be integer now',
  ],
  [
    'a choice',
    { anyOf: [named('Round'), { type: 'null' }] },
    named('Round'),
    'may no longer be null',
    'may be null now',
  ],
  [
    'other fields',
    { type: 'object', additionalProperties: {} },
    { type: 'object', additionalProperties: false },
    'takes no other fields any more',
    'may have other fields now',
  ],
  [
    'what other fields are',
    { type: 'object', additionalProperties: { type: ['string', 'null'] } },
    { type: 'object', additionalProperties: { type: 'string' } },
    '.* may no longer be null',
    '.* may be null now',
  ],
  [
    'what a list holds',
    { type: 'array', items: { type: ['string', 'null'] } },
    { type: 'array', items: { type: 'string' } },
    '[] may no longer be null',
    '[] may be null now',
  ],
  [
    'what comes after the places of a tuple',
    { type: 'array', prefixItems: [field], items: {}, maxItems: 3 },
    { type: 'array', prefixItems: [field], items: field, maxItems: 3 },
    '[] may no longer be anything',
    '[] may be anything now',
  ],
  [
    'a name that is always among the others',
    { type: 'object', additionalProperties: field },
    { type: 'object', properties: { a: field }, required: ['a'], additionalProperties: field },
    '.a is required now',
    '.a may be left out now',
  ],
  [
    'names of others that become fields',
    { type: 'object', additionalProperties: field, propertyNames: { enum: ['a', 'b'] } },
    {
      type: 'object',
      properties: { a: { type: 'string', maxLength: 5 } },
      additionalProperties: field,
      propertyNames: { enum: ['a', 'b'] },
    },
    '.a is bounded more narrowly: maxLength 20 → 5',
    '.a goes beyond its bound: maxLength 5 → 20',
  ],
  [
    'a field that is always there',
    { type: 'object', properties: { a: field }, additionalProperties: false },
    { type: 'object', properties: { a: field }, required: ['a'], additionalProperties: false },
    '.a is required now',
    '.a may be left out now',
  ],
]

const toLine = (schema: string, each: string): string =>
  `${schema}.of${each.startsWith('.') || each.startsWith('[') ? '' : ' '}${each}`

test.each(kinds)('%s', (_name, wide, narrow, sent, answered) => {
  const less = compareContracts(buildContract(wide, field), buildContract(narrow, field))
  expect(less.breaking).toEqual([toLine('GadgetInput', sent)])
  const more = compareContracts(buildContract(field, narrow), buildContract(field, wide))
  expect(more.breaking).toEqual([toLine('Gadget', answered)])
  expect(compareContracts(buildContract(narrow, field), buildContract(wide, field)).breaking).toEqual([])
  expect(compareContracts(buildContract(field, wide), buildContract(field, narrow)).breaking).toEqual([])
})

/** Different spellings of the same schema. */
const same: [name: string, one: JsonSchema, other: JsonSchema][] = [
  ['a constant', { type: 'string', const: 'a' }, { enum: ['a'] }],
  ['the order of values', { type: 'string', enum: ['a', 'b'] }, { type: 'string', enum: ['b', 'a'] }],
  [
    'constants of a choice',
    { anyOf: [{ const: 'a' }, { const: 'b' }] },
    { type: 'string', enum: ['a', 'b'] },
  ],
  ['objects as values', { enum: [{ a: 1, b: [2] }, null] }, { enum: [{ b: [2], a: 1 }, null] }],
  [
    'null',
    { type: ['string', 'null'], maxLength: 5 },
    { anyOf: [{ const: null }, { type: 'string', maxLength: 5 }] },
  ],
  ['values of either type', { type: ['string', 'null'], enum: ['a'] }, { type: 'string', enum: ['a'] }],
  ['yes and no', { type: 'boolean' }, { type: 'boolean', enum: [false, true] }],
  ['yes or no', { type: 'boolean' }, { anyOf: [{ const: true }, { const: false }] }],
  ['bounds without effect', { type: 'string' }, { type: 'string', minLength: 0 }],
  [
    'the order of fields',
    { type: 'object', properties: { a: field, b: field }, required: ['a', 'b'] },
    { type: 'object', properties: { b: field, a: field }, required: ['b', 'a'], additionalProperties: true },
  ],
  [
    'the schema of a name',
    named('Round'),
    { type: 'object', properties: { is: { const: 'round' }, size: field } },
  ],
  [
    'another name',
    { anyOf: [named('Round'), named('Square')] },
    { anyOf: [named('Square'), named('Circle')] },
  ],
  ['a recursive schema', named('Tree'), { anyOf: [named('Tree')] }],
  ['keywords for readers', field, { ...field, title: 'Of', deprecated: true }],
]

test.each(same)('equivalent: %s', (_name, one, other) => {
  const nothing = { breaking: [], added: [] }
  expect(compareContracts(buildContract(one, one), buildContract(other, other))).toEqual(nothing)
  expect(compareContracts(buildContract(other, other), buildContract(one, one))).toEqual(nothing)
})

test('a slash without its backslash and a pattern against blanks change nothing', () => {
  const before = [{ pattern: '^\\/a$' }, { pattern: '^[^\\r\\n]*$' }, {}]
  const after = [{ pattern: '^/a$' }, { pattern: '^[^\\S\\r\\n]*\\S[^\\r\\n]*$' }, { pattern: '\\S' }]
  for (const [at, old] of before.entries()) {
    const [was, is] = [old, after[at]!].map((each) => ({ type: 'string', ...each }))
    expect(compareContracts(buildContract(was!, was!), buildContract(is!, is!))).toEqual({
      breaking: [],
      added: [],
    })
  }
})

/** Which is wider cannot be decided: such a change needs a reason to be accepted. */
test.each<JsonSchema>([
  { type: 'number', multipleOf: 0.01 },
  { type: 'array', uniqueItems: true },
  { type: 'array', prefixItems: [field], items: false },
  { type: 'object', propertyNames: { enum: ['a', 'b'] } },
])('%j is reported however it changes', (schema) => {
  const { type } = schema
  const key = Object.keys(schema)[1]!
  const other = { type, [key]: 'another' }
  for (const [old, now] of [
    [schema, other],
    [other, schema],
  ] as const) {
    expect(compareContracts(buildContract(old, field), buildContract(now, field)).breaking).toEqual([
      expect.stringMatching(`^GadgetInput.of must have another form: ${key} `),
    ])
  }
})
