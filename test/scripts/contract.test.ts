/** Breaking changes for callers of the last release, with a case for each kind, and additions. */
import { describe, expect, test } from 'vitest'
import { buildOpenApi } from '#runtime/documents/openapi'
import { loadRegistry } from '#runtime/registry/registry'
import { findContractIssues, toIssues } from '#scripts/checks/contract'
import { compareContracts } from '#scripts/contract/changes'
import { toContract } from '#scripts/contract/contract'
import { buildCall, buildContract, call, field, type Parts } from './contract-fixtures.ts'

const plain = buildContract(field, field)
const changed = (changes: Partial<Parts>) => compareContracts(plain, buildContract(field, field, changes))

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

  test('a removed operation, and one that needs a key', () => {
    expect(compareContracts(plain, { ...plain, calls: {} }).breaking).toEqual(['POST /gadgets: is gone'])
    const { access: _, ...open } = call
    const before = { ...plain, calls: { 'POST /gadgets': buildCall(open) } }
    expect(compareContracts(before, plain).breaking).toEqual(['POST /gadgets: needs a key now'])
    expect(compareContracts(plain, before)).toEqual({ breaking: [], added: [] })
  })

  test('additions', () => {
    expect(compareContracts({ ...plain, calls: {} }, plain)).toEqual({
      breaking: [],
      added: ['POST /gadgets: is new'],
    })
    const more = { ...call.parameters, 'query of': { schema: field } }
    expect(changed({ parameters: more })).toEqual({ breaking: [], added: ['POST /gadgets: query of is new'] })
    const { body: _, ...without } = call
    expect(compareContracts({ ...plain, calls: { 'POST /gadgets': buildCall(without) } }, plain)).toEqual({
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

  test('the check refuses breaking changes without a reason, and reasons without a change', () => {
    expect(toIssues(plain, plain, {})).toEqual([])
    expect(toIssues(plain, without, {})).toEqual([
      expect.objectContaining({ wrong: expect.stringContaining(gone) }),
    ])
    expect(toIssues(plain, without, { [gone]: ' ' })).toHaveLength(1)
    expect(toIssues(plain, without, { [gone]: 'Nobody has gadgets any more' })).toEqual([])
    expect(toIssues(plain, plain, { [gone]: 'Nobody has gadgets any more' })).toEqual([
      expect.objectContaining({ file: 'scripts/contract/accepted.ts', wrong: `nothing breaks so: ${gone}` }),
    ])
  })

  test('current operations pass, and a missing one is reported', async () => {
    const registry = await loadRegistry()
    expect(await findContractIssues(registry)).toEqual([])
    const [first, ...others] = registry.operations
    const faults = await findContractIssues({ ...registry, operations: others })
    expect(faults[0]!.wrong).toContain(`${first!.spec.method} ${first!.spec.path}: is gone`)
  })

  test('a default that only the description mentions is reported', async () => {
    const document = buildOpenApi(await loadRegistry())
    const text = JSON.stringify(document)
    const other = JSON.parse(text.replace('Customers at most. Default: 1000"', 'Customers. Default: 500"'))
    expect(compareContracts(toContract(document), toContract(other)).breaking).toEqual([
      'AutomationsExecuteInput.limit, left out, is 500 instead of 1000',
    ])
  })

  test('descriptions and examples are ignored', async () => {
    const text = JSON.stringify(toContract(buildOpenApi(await loadRegistry())))
    expect(text).not.toMatch(/"description":"|"examples?":\[/)
    expect(text).toContain('"properties":{"id":{"$ref"')
  })
})
