/** What breaks callers of the last release, a case for each kind, and what is only new to them. */
import { describe, expect, test } from 'vitest'
import { openApiDocument } from '#runtime/documents/openapi'
import { loadRegistry } from '#runtime/registry/registry'
import { contractFaults, faultsOf } from '#scripts/checks/contract'
import { changesOf } from '#scripts/contract/changes'
import { contractOf } from '#scripts/contract/contract'
import { call, callOf, contractWith, field, type Parts } from './gadgets.ts'

const plain = contractWith(field, field)
const changed = (changes: Partial<Parts>) => changesOf(plain, contractWith(field, field, changes))

describe('around the schemas', () => {
  test.each<[Partial<Parts>, string]>([
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
      'query page, left out, is none instead of 1',
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
    const before = { ...plain, calls: { 'POST /gadgets': callOf(open) } }
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
    expect(changesOf({ ...plain, calls: { 'POST /gadgets': callOf(without) } }, plain)).toEqual({
      breaking: [],
      added: ['POST /gadgets: body is new'],
    })
    expect(changed({ answer: { ...call.answer, headers: ['ETag', 'Location'] } })).toEqual({
      breaking: [],
      added: ["POST /gadgets: answer's header Location is new"],
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
