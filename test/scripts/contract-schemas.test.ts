/** Changes within the schemas of a contract: of fields, choices, values and defaults. */
import { expect, test } from 'vitest'
import type { JsonSchema } from '#runtime/documents/publish'
import { changesOf } from '#scripts/contract/changes'
import { contractWith, field, named } from './gadgets.ts'

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
  const choice = { anyOf: [named('Round'), named('Square')] }
  expect(changesOf(contractWith(choice, field), contractWith(named('Round'), field)).breaking).toEqual([
    'GadgetInput.of.is may no longer be "square"',
  ])
  const before = contractWith(choice, field)
  const after = structuredClone(before)
  after.schemas.Round!.required = ['size']
  expect(changesOf(before, after).breaking).toEqual(['GadgetInput.of.size is required now'])
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
  const choice = { anyOf: [named('Round'), named('Square')] }
  expect(changesOf(contractWith(field, named('Round')), contractWith(field, choice)).breaking).toContain(
    'Gadget.of.is may be "square" now',
  )
})

test('a choice that changes while another takes what it took', () => {
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
