/** What breaks callers of the last release, a case for each kind, and what is only new to them. */
import { describe, expect, test } from 'vitest'
import { openApiDocument } from '#runtime/documents/openapi'
import type { JsonSchema } from '#runtime/documents/publish'
import { loadRegistry } from '#runtime/registry/registry'
import { contractFaults, faultsOf } from '#scripts/checks/contract'
import { changesOf } from '#scripts/contract/changes'
import { type Call, type Contract, contractOf } from '#scripts/contract/contract'

const call: Call = {
  id: 'post_gadgets',
  access: { scopes: ['platform:write'], role: 'member' },
  parameters: {
    'query page': { schema: { type: 'integer', default: 1 } },
    'query sort': { schema: { type: 'string', enum: ['name', 'age'] } },
  },
  body: { schema: { $ref: '#/components/schemas/GadgetInput' } },
  answer: { status: '201', headers: ['ETag'], schema: { $ref: '#/components/schemas/Gadget' } },
}
const field: JsonSchema = { type: 'string', maxLength: 20 }
const contractWith = (sent: JsonSchema, answered: JsonSchema, changed: Partial<Call> = {}): Contract => ({
  calls: { 'POST /gadgets': { ...call, ...changed } },
  schemas: {
    Gadget: { type: 'object', properties: { of: answered, name: field }, required: ['of', 'name'] },
    GadgetInput: {
      type: 'object',
      properties: { of: sent, name: field },
      required: ['name'],
      additionalProperties: false,
    },
    Round: { type: 'object', properties: { is: { const: 'round', type: 'string' }, size: field } },
    Circle: { type: 'object', properties: { is: { const: 'round', type: 'string' }, size: field } },
    Square: { type: 'object', properties: { is: { const: 'square', type: 'string' } } },
    Tree: {
      type: 'object',
      properties: { below: { type: 'array', items: { $ref: '#/components/schemas/Tree' } } },
    },
  },
})
const plain = contractWith(field, field)
const changed = (changes: Partial<Call>) => changesOf(plain, contractWith(field, field, changes))

describe('around the schemas', () => {
  test.each<[Partial<Call>, string]>([
    [{ id: 'make_gadget' }, 'is called make_gadget now'],
    [
      { access: { scopes: ['platform:write', 'team:write'], role: 'member' } },
      'needs the scope team:write now',
    ],
    [{ access: { scopes: ['platform:write'], role: 'owner' } }, 'needs the role owner now'],
    [
      { access: { scopes: ['platform:write'], role: 'member', feature: 'gadgets' } },
      "needs the plan's feature gadgets now",
    ],
    [{ parameters: { 'query page': call.parameters['query page']! } }, 'query sort is refused now'],
    [
      { parameters: { ...call.parameters, 'query of': { required: true, schema: field } } },
      'query of is required now',
    ],
    [
      { parameters: { ...call.parameters, 'query page': { schema: { type: 'integer', default: 2 } } } },
      'query page, left out, is 2 instead of 1',
    ],
    [
      { parameters: { ...call.parameters, 'query page': { schema: { type: 'integer' } } } },
      'query page, left out, is nothing instead of 1',
    ],
    [
      { parameters: { ...call.parameters, 'query page': { required: true, schema: { type: 'integer' } } } },
      'query page is required now',
    ],
    [
      { parameters: { ...call.parameters, 'query sort': { schema: { type: 'string', enum: ['name'] } } } },
      'query sort may no longer be "age"',
    ],
    [{ body: { required: true, schema: call.body!.schema } }, 'body is required now'],
    [{ answer: { ...call.answer, status: '200' } }, 'answers 200 now'],
    [{ answer: { ...call.answer, headers: [] } }, "answer's header ETag is gone"],
    [{ answer: { status: '201', headers: ['ETag'] } }, 'answer is gone'],
  ])('%j', (changes, told) => {
    expect(changed(changes).breaking).toEqual([`POST /gadgets: ${told}`])
  })

  test('an operation that is gone, and one that needs a key', () => {
    expect(changesOf(plain, { ...plain, calls: {} }).breaking).toEqual(['POST /gadgets: is gone'])
    const { access: _, ...open } = call
    const before = { ...plain, calls: { 'POST /gadgets': open } }
    expect(changesOf(before, plain).breaking).toEqual(['POST /gadgets: needs a key now'])
    expect(changesOf(plain, before)).toEqual({ breaking: [], added: [] })
  })

  test('what is new', () => {
    expect(changesOf({ ...plain, calls: {} }, plain)).toEqual({
      breaking: [],
      added: ['POST /gadgets: is new'],
    })
    const more = { ...call.parameters, 'query of': { schema: field } }
    expect(changed({ parameters: more })).toEqual({ breaking: [], added: ['POST /gadgets: query of is new'] })
    const { body: _, ...without } = call
    expect(changesOf({ ...plain, calls: { 'POST /gadgets': without } }, plain)).toEqual({
      breaking: [],
      added: ['POST /gadgets: body is new'],
    })
    const asked = contractWith(field, field, { body: { ...call.body!, required: true } })
    expect(changesOf(asked, plain)).toEqual({
      breaking: [],
      added: ['POST /gadgets: body may be left out now'],
    })
    expect(changed({ answer: { ...call.answer, headers: ['ETag', 'Location'] } })).toEqual({
      breaking: [],
      added: ["POST /gadgets: answer's header Location is new"],
    })
  })
})

/** From the first to the second the one breaks, from the second to the first the other: each kind in both directions. */
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
    const told = (from: unknown, to: unknown): [string, string] => [
      `is bounded more narrowly: ${key} ${from} → ${to}`,
      `goes beyond its bound: ${key} ${to} → ${from}`,
    ]
    return [
      [`${key}`, { ...type, [key!]: wide }, { ...type, [key!]: narrow }, ...told(wide, narrow)],
      [`no ${key}`, type, { ...type, [key!]: narrow }, ...told('none', narrow)],
    ]
  }),
  ...['pattern', 'format', 'contentEncoding'].map((key): (typeof kinds)[number] => [
    key,
    { type: 'string' },
    { type: 'string', [key]: 'x, y' },
    `must have another form: ${key} none → x, y`,
    `has another form: ${key} x, y → none`,
  ]),
  ...[
    ['none', 0.01],
    [0.01, 0.29],
    [0.1, 0.3],
  ].map(([wide, narrow]): (typeof kinds)[number] => [
    `multiples of ${wide} and of ${narrow}`,
    { type: 'number', ...(wide === 'none' ? {} : { multipleOf: wide }) },
    { type: 'number', multipleOf: narrow },
    `must have another form: multipleOf ${wide} → ${narrow}`,
    `has another form: multipleOf ${narrow} → ${wide}`,
  ]),
  [
    'cents and whole numbers',
    { type: 'number', multipleOf: 0.01 },
    { type: 'integer' },
    'may no longer be number',
    'may be number now',
  ],
  [
    'unlike items',
    { type: 'array', items: field, uniqueItems: false },
    { type: 'array', items: field, uniqueItems: true },
    'must have another form: uniqueItems false → true',
    'has another form: uniqueItems true → false',
  ],
  [
    'a bound that is in',
    { type: 'number', minimum: 1 },
    { type: 'number', exclusiveMinimum: 1 },
    'is bounded more narrowly: exclusiveMinimum 1 (minimum) → 1',
    'goes beyond its bound: exclusiveMinimum 1 → 1 (minimum)',
  ],
  [
    'a bound that is out of another',
    { type: 'integer', exclusiveMaximum: 10 },
    { type: 'integer', maximum: 8 },
    'is bounded more narrowly: maximum 10 (exclusiveMaximum) → 8',
    'goes beyond its bound: maximum 8 → 10 (exclusiveMaximum)',
  ],
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
    { anyOf: [{ $ref: '#/components/schemas/Round' }, { type: 'null' }] },
    { $ref: '#/components/schemas/Round' },
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
    'their names',
    { type: 'object', additionalProperties: field, propertyNames: { enum: ['a', 'b'] } },
    { type: 'object', additionalProperties: field, propertyNames: { enum: ['a'] } },
    '.* may no longer be "b"',
    '.* may be "b" now',
  ],
  [
    'what a list holds',
    { type: 'array', items: { type: ['string', 'null'] } },
    { type: 'array', items: { type: 'string' } },
    '[] may no longer be null',
    '[] may be null now',
  ],
  [
    'a place of a tuple',
    { type: 'array', prefixItems: [field, { type: ['string', 'null'] }], items: false },
    { type: 'array', prefixItems: [field, { type: 'string' }], items: false },
    '[1] may no longer be null',
    '[1] may be null now',
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
    'a list that becomes a pair',
    { type: 'array', items: field, minItems: 1, maxItems: 2 },
    { type: 'array', prefixItems: [field, field], items: false, minItems: 2, maxItems: 2 },
    'is bounded more narrowly: minItems 1 → 2',
    'goes beyond its bound: minItems 2 → 1',
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

/** Written otherwise, and the same. */
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
  ['a least whole number', { type: 'integer', minimum: 1 }, { type: 'integer', exclusiveMinimum: 0 }],
  ['a largest whole number', { type: 'integer', maximum: 9 }, { type: 'integer', exclusiveMaximum: 10 }],
  ['between whole numbers', { type: 'integer', maximum: 9 }, { type: 'integer', exclusiveMaximum: 9.5 }],
  ['whole numbers', { type: 'integer', minimum: 1 }, { type: 'number', multipleOf: 1, minimum: 1 }],
  ['bounds of nothing', { type: 'string' }, { type: 'string', minLength: 0 }],
  [
    'the order of fields',
    { type: 'object', properties: { a: field, b: field }, required: ['a', 'b'] },
    { type: 'object', properties: { b: field, a: field }, required: ['b', 'a'], additionalProperties: true },
  ],
  [
    'the schema of a name',
    { $ref: '#/components/schemas/Round' },
    { type: 'object', properties: { is: { const: 'round' }, size: field } },
  ],
  [
    'another name',
    { anyOf: [{ $ref: '#/components/schemas/Round' }, { $ref: '#/components/schemas/Square' }] },
    { anyOf: [{ $ref: '#/components/schemas/Square' }, { $ref: '#/components/schemas/Circle' }] },
  ],
  [
    'a schema that holds itself',
    { $ref: '#/components/schemas/Tree' },
    { anyOf: [{ $ref: '#/components/schemas/Tree' }] },
  ],
  ['what only tells readers', field, { ...field, title: 'Of', deprecated: true }],
]

describe('within the schemas', () => {
  const told = (schema: string, each: string): string =>
    `${schema}.of${each.startsWith('.') || each.startsWith('[') ? '' : ' '}${each}`

  test.each(kinds)('%s', (_name, wide, narrow, sent, answered) => {
    const less = changesOf(contractWith(wide, field), contractWith(narrow, field))
    expect(less.breaking).toEqual([told('GadgetInput', sent)])
    const more = changesOf(contractWith(field, narrow), contractWith(field, wide))
    expect(more.breaking).toEqual([told('Gadget', answered)])
    expect(changesOf(contractWith(narrow, field), contractWith(wide, field)).breaking).toEqual([])
    expect(changesOf(contractWith(field, wide), contractWith(field, narrow)).breaking).toEqual([])
  })

  test('a field that is gone, and one that is new', () => {
    const one = { type: 'object', properties: { a: field }, additionalProperties: false }
    const two = { ...one, properties: { a: field, b: field } }
    expect(changesOf(contractWith(two, one), contractWith(one, one)).breaking).toEqual([
      'GadgetInput.of.b is refused now',
    ])
    expect(changesOf(contractWith(one, one), contractWith(two, one))).toEqual({
      breaking: [],
      added: ['GadgetInput.of.b is new'],
    })
    const [open, more] = [one, two].map(({ additionalProperties: _, ...rest }) => rest)
    expect(changesOf(contractWith(one, more!), contractWith(one, open!)).breaking).toEqual([
      'Gadget.of.b is gone',
    ])
    expect(changesOf(contractWith(one, open!), contractWith(one, more!))).toEqual({
      breaking: [],
      added: ['Gadget.of.b is new'],
    })
  })

  test('a new field that is required, and one that is ignored', () => {
    const one = { type: 'object', properties: { a: field }, additionalProperties: false }
    const two = { ...one, properties: { a: field, b: field }, required: ['b'] }
    expect(changesOf(contractWith(one, field), contractWith(two, field)).breaking).toEqual([
      'GadgetInput.of.b is required now',
    ])
    const ignored = { ...field, readOnly: true }
    expect(changesOf(contractWith(field, field), contractWith(ignored, field)).breaking).toEqual([
      'GadgetInput.of is ignored now',
    ])
  })

  test('a choice between objects that one is taken from, and one of them that changes', () => {
    const round = { $ref: '#/components/schemas/Round' }
    const choice = { anyOf: [round, { $ref: '#/components/schemas/Square' }] }
    expect(changesOf(contractWith(choice, field), contractWith(round, field)).breaking).toEqual([
      'GadgetInput.of.is may no longer be "square"',
    ])
    const before = contractWith(choice, field)
    const after = structuredClone(before)
    after.schemas.Round!.required = ['size']
    expect(changesOf(before, after).breaking).toEqual(['Round.size is required now'])
  })

  test.each(same)('the same: %s', (_name, one, other) => {
    const nothing = { breaking: [], added: [] }
    expect(changesOf(contractWith(one, one), contractWith(other, other))).toEqual(nothing)
    expect(changesOf(contractWith(other, other), contractWith(one, one))).toEqual(nothing)
  })

  test.each<[name: string, old: JsonSchema, now: JsonSchema, told: string[]]>([
    [
      'another default',
      { ...field, default: 'a' },
      { ...field, default: 'b' },
      ['.of, left out, is "b" instead of "a"'],
    ],
    ['a new default', field, { ...field, default: null }, ['.of, left out, is null instead of nothing']],
    [
      'a default of what has a name',
      { $ref: '#/components/schemas/Round', default: { size: 'a', is: 'round' } },
      { $ref: '#/components/schemas/Round', default: { is: 'round', size: 'b' } },
      ['.of, left out, is {"is":"round","size":"b"} instead of {"size":"a","is":"round"}'],
    ],
    [
      'the order within a default',
      { type: 'object', default: { a: 1, b: 2 } },
      { type: 'object', default: { b: 2, a: 1 } },
      [],
    ],
    [
      'a default that lies deeper',
      { type: 'array', items: { type: 'object', properties: { a: { type: 'integer', default: 1 } } } },
      { type: 'array', items: { type: 'object', properties: { a: { type: 'integer', default: 2 } } } },
      ['.of[].a, left out, is 2 instead of 1'],
    ],
    [
      'a default that nobody needs',
      { type: 'object', properties: { a: { type: 'integer', default: 1 } }, required: ['a'] },
      { type: 'object', properties: { a: { type: 'integer', default: 2 } } },
      [],
    ],
    [
      'a default of a choice',
      { anyOf: [{ ...field, default: 'a' }, { type: 'null' }] },
      { type: ['string', 'null'], maxLength: 20, default: 'a' },
      [],
    ],
    ['values that a bound lets in', { enum: ['a', 'b'] }, { type: 'string', minLength: 1, maxLength: 1 }, []],
    [
      'values and a bound',
      { enum: ['a', 'bb', '😀'] },
      { type: 'string', maxLength: 1 },
      ['.of may no longer be "bb"'],
    ],
    [
      'values and a pattern',
      { enum: ['a', 'b'] },
      { type: 'string', pattern: '^a$' },
      ['.of may no longer be "b"'],
    ],
    [
      'numbers and bounds',
      { enum: [0, 0.3, 0.25] },
      { type: 'number', exclusiveMinimum: 0, multipleOf: 0.1 },
      ['.of may no longer be 0', '.of may no longer be 0.25'],
    ],
    [
      'a pattern that becomes a format',
      { type: 'string', pattern: '^a, b$' },
      { type: 'string', format: 'date' },
      ['.of must have another form: format none → date'],
    ],
    [
      'a field that is called as what every object has',
      { type: 'object', properties: { constructor: field } },
      { type: 'object', properties: {} },
      ['.of.constructor is refused now'],
    ],
    [
      'what has a name and is ignored now',
      { $ref: '#/components/schemas/Round' },
      { $ref: '#/components/schemas/Round', readOnly: true },
      ['.of is ignored now'],
    ],
    [
      'all of several, which nobody compares',
      { type: 'object', properties: {} },
      { type: 'object', properties: {}, allOf: [{ required: ['a'] }] },
      ['.of must have another form: allOf none → [{"required":["a"]}]'],
    ],
    [
      'a tuple that grows',
      { type: 'array', prefixItems: [field], items: false, minItems: 1, maxItems: 1 },
      { type: 'array', prefixItems: [field, field], items: false, minItems: 2, maxItems: 2 },
      ['.of is bounded more narrowly: minItems 1 → 2'],
    ],
  ])('sent: %s', (_name, old, now, told) => {
    expect(changesOf(contractWith(old, field), contractWith(now, field)).breaking).toEqual(
      told.map((each) => `GadgetInput${each}`),
    )
  })

  test('what defaults, and fields that are ignored, are in answers breaks nobody', () => {
    const nothing = { breaking: [], added: [] }
    for (const now of [
      { ...field, default: 'a' },
      { ...field, readOnly: true },
    ]) {
      expect(changesOf(contractWith(field, field), contractWith(field, now))).toEqual(nothing)
    }
    const ignored = { ...field, readOnly: true }
    const longer = { ...ignored, maxLength: 30 }
    expect(changesOf(contractWith(field, ignored), contractWith(field, longer)).breaking).toEqual([
      'Gadget.of goes beyond its bound: maxLength 20 → 30',
    ])
  })

  test('a choice that is added to answers', () => {
    const round = { $ref: '#/components/schemas/Round' }
    const choice = { anyOf: [round, { $ref: '#/components/schemas/Square' }] }
    expect(changesOf(contractWith(field, round), contractWith(field, choice)).breaking).toContain(
      'Gadget.of.is may be "square" now',
    )
  })

  test('a choice that changes while another takes what it took', () => {
    const named = (name: string) => ({ $ref: `#/components/schemas/${name}` })
    const before = contractWith(named('Round'), field)
    const after = contractWith({ anyOf: [named('Round'), named('Circle')] }, field)
    after.schemas.Round!.required = ['size']
    expect(changesOf(before, after).breaking).toEqual([])
  })

  test('a field of what refuses others, sent and answered alike', () => {
    const strict = { type: 'object', properties: { a: field }, additionalProperties: false }
    const more = { ...strict, properties: { a: field, b: field } }
    const fewer = contractWith(strict, strict)
    expect(changesOf(fewer, contractWith(more, more))).toEqual({
      breaking: [],
      added: ['GadgetInput.of.b is new', 'Gadget.of.b is new'],
    })
    expect(changesOf(contractWith(more, more), fewer)).toEqual({
      breaking: ['GadgetInput.of.b is refused now', 'Gadget.of.b is gone'],
      added: [],
    })
  })
})

describe('the check', () => {
  const without = { ...plain, calls: {} }
  const gone = 'POST /gadgets: is gone'

  test('refuses what breaks, unless a reason is given, and reasons for nothing', () => {
    expect(faultsOf(plain, plain, {})).toEqual([])
    expect(faultsOf(plain, without, {})).toEqual([
      expect.objectContaining({ wrong: expect.stringContaining(gone) }),
    ])
    expect(faultsOf(plain, without, { [gone]: ' ' })).toHaveLength(1)
    expect(faultsOf(plain, without, { [gone]: 'Nobody has gadgets any more' })).toEqual([])
    expect(faultsOf(plain, plain, { [gone]: 'Nobody has gadgets any more' })).toEqual([
      expect.objectContaining({ file: 'scripts/contract/accepted.ts', wrong: `nothing breaks so: ${gone}` }),
    ])
  })

  test('has nothing against the operations there are, and sees one that is not there', async () => {
    const registry = await loadRegistry()
    expect(await contractFaults(registry)).toEqual([])
    const [first, ...others] = registry.operations
    const faults = await contractFaults({ ...registry, operations: others })
    expect(faults[0]!.wrong).toContain(`${first!.spec.method} ${first!.spec.path}: is gone`)
  })

  test('sees a default that only words tell', async () => {
    const document = openApiDocument(await loadRegistry())
    const text = JSON.stringify(document)
    const other = JSON.parse(text.replace('Customers at most. Default: 1000"', 'Customers. Default: 500"'))
    expect(changesOf(contractOf(document), contractOf(other)).breaking).toEqual([
      'AutomationsExecuteInput.limit, left out, is 500 instead of 1000',
    ])
  })

  test('words and examples are no part of it', async () => {
    const text = JSON.stringify(contractOf(openApiDocument(await loadRegistry())))
    expect(text).not.toMatch(/"description":"|"examples?":\[/)
    expect(text).toContain('"properties":{"id":{"$ref"')
  })
})
