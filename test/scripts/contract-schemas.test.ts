/** Changes within the schemas of a contract: fields, choices, values and defaults. */
import { expect, test } from 'vitest'
import type { JsonSchema } from '#runtime/documents/publish'
import { compareContracts } from '#scripts/contract/changes'
import { buildContract, field, named } from './contract-fixtures.ts'

test('a removed field and a new one', () => {
  const one = { type: 'object', properties: { a: field }, additionalProperties: false }
  const two = { ...one, properties: { a: field, b: field } }
  expect(compareContracts(buildContract(two, one), buildContract(one, one)).breaking).toEqual([
    'GadgetInput.of.b is refused now',
  ])
  expect(compareContracts(buildContract(one, one), buildContract(two, one))).toEqual({
    breaking: [],
    added: ['GadgetInput.of.b is new'],
  })
  const [open, more] = [one, two].map(({ additionalProperties: _, ...rest }) => rest)
  expect(compareContracts(buildContract(one, more!), buildContract(one, open!)).breaking).toEqual([
    'Gadget.of.b is gone',
  ])
  expect(compareContracts(buildContract(one, open!), buildContract(one, more!))).toEqual({
    breaking: [],
    added: ['Gadget.of.b is new'],
  })
})

test('a new required field, and an ignored one', () => {
  const one = { type: 'object', properties: { a: field }, additionalProperties: false }
  const two = { ...one, properties: { a: field, b: field }, required: ['b'] }
  expect(compareContracts(buildContract(one, field), buildContract(two, field)).breaking).toEqual([
    'GadgetInput.of.b is required now',
  ])
  const ignored = { ...field, readOnly: true }
  expect(compareContracts(buildContract(field, field), buildContract(ignored, field)).breaking).toEqual([
    'GadgetInput.of is ignored now',
  ])
})

test('a choice between objects that loses one, and one that changes', () => {
  const choice = { anyOf: [named('Round'), named('Square')] }
  expect(
    compareContracts(buildContract(choice, field), buildContract(named('Round'), field)).breaking,
  ).toEqual(['GadgetInput.of.is may no longer be "square"'])
  const before = buildContract(choice, field)
  const after = structuredClone(before)
  after.schemas.Round!.required = ['size']
  expect(compareContracts(before, after).breaking).toEqual(['GadgetInput.of.size is required now'])
})

test.each<[name: string, old: JsonSchema, now: JsonSchema, told: string[]]>([
  [
    'another default',
    { ...field, default: 'a' },
    { ...field, default: 'b' },
    ['.of, left out, is "b" instead of "a"'],
  ],
  ['a new default', field, { ...field, default: null }, ['.of, left out, is null instead of none']],
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
  [
    'a pattern that becomes a format',
    { type: 'string', pattern: '^a, b$' },
    { type: 'string', format: 'date' },
    ['.of must have another form: format none → "date"'],
  ],
  [
    'a field that is called as what every object has',
    { type: 'object', properties: { constructor: field } },
    { type: 'object', properties: {} },
    ['.of.constructor is refused now'],
  ],
  [
    'what has a name and is ignored now',
    named('Round'),
    { $ref: '#/components/schemas/Round', readOnly: true },
    ['.of is ignored now'],
  ],
  [
    'all of several, which nobody compares',
    { type: 'object', properties: {} },
    { type: 'object', properties: {}, allOf: [{ required: ['a'] }] },
    ['.of must have another form: allOf none → [{"required":["a"]}]'],
  ],
])('sent: %s', (_name, old, now, told) => {
  expect(compareContracts(buildContract(old, field), buildContract(now, field)).breaking).toEqual(
    told.map((each) => `GadgetInput${each}`),
  )
})

test('defaults and ignored fields of answers break nobody', () => {
  const nothing = { breaking: [], added: [] }
  for (const now of [
    { ...field, default: 'a' },
    { ...field, readOnly: true },
  ]) {
    expect(compareContracts(buildContract(field, field), buildContract(field, now))).toEqual(nothing)
  }
  const ignored = { ...field, readOnly: true }
  const longer = { ...ignored, maxLength: 30 }
  expect(compareContracts(buildContract(field, ignored), buildContract(field, longer)).breaking).toEqual([
    'Gadget.of goes beyond its bound: maxLength 20 → 30',
  ])
})

test('a choice added to answers', () => {
  const choice = { anyOf: [named('Round'), named('Square')] }
  expect(
    compareContracts(buildContract(field, named('Round')), buildContract(field, choice)).breaking,
  ).toContain('Gadget.of.is may be "square" now')
})

test('a choice changes while another accepts what it accepted', () => {
  const before = buildContract(named('Round'), field)
  const after = buildContract({ anyOf: [named('Round'), named('Circle')] }, field)
  after.schemas.Round!.required = ['size']
  expect(compareContracts(before, after).breaking).toEqual([])
})

test('a field of a schema without other fields, in requests and answers', () => {
  const strict = { type: 'object', properties: { a: field }, additionalProperties: false }
  const more = { ...strict, properties: { a: field, b: field } }
  const fewer = buildContract(strict, strict)
  expect(compareContracts(fewer, buildContract(more, more))).toEqual({
    breaking: [],
    added: ['GadgetInput.of.b is new', 'Gadget.of.b is new'],
  })
  expect(compareContracts(buildContract(more, more), fewer)).toEqual({
    breaking: ['GadgetInput.of.b is refused now', 'Gadget.of.b is gone'],
    added: [],
  })
})
