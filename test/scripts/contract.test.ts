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
    Square: { type: 'object', properties: { is: { const: 'square', type: 'string' } } },
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
  ...['pattern', 'format', 'multipleOf'].map((key): (typeof kinds)[number] => [
    key,
    { type: 'string' },
    { type: 'string', [key]: 'x' },
    `must have another form: ${key} none → x`,
    `has another form: ${key} x → none`,
  ]),
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
    'a field that is always there',
    { type: 'object', properties: { a: field }, additionalProperties: false },
    { type: 'object', properties: { a: field }, required: ['a'], additionalProperties: false },
    '.a is required now',
    '.a may be left out now',
  ],
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

  test('another name, or none, changes nothing', () => {
    const round = contractWith({ $ref: '#/components/schemas/Round' }, field)
    expect(changesOf(round, contractWith(round.schemas.Round!, field))).toEqual({ breaking: [], added: [] })
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

  test('words and examples are no part of it', async () => {
    const text = JSON.stringify(contractOf(openApiDocument(await loadRegistry())))
    expect(text).not.toMatch(/"description":"|"examples?":\[/)
    expect(text).toContain('"properties":{"id":{"$ref"')
  })
})
