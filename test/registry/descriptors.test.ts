import { Ajv2020 } from 'ajv/dist/2020.js'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Access } from '#db/access'
import listOperations from '#operations/discovery/api/list-operations'
import { type Actor, Context, jobActor, type Services } from '#runtime/context'
import { type Descriptor, getDescriptor, getDescriptorText } from '#runtime/documents/descriptors'
import { checkAccess } from '#runtime/gateway/access'
import { JsonText, operation } from '#runtime/operation'
import { buildCatalog } from '#runtime/registry/catalog'
import type { LoadedOperation, Registry } from '#runtime/registry/loaded'
import { loadOperation, loadRegistry } from '#runtime/registry/registry'
import { allScopes } from '#runtime/roles'
import { silentLog } from '#runtime/server/log'
import { frozenClock } from '#test/support/test-clock'
import { sampleOperations, withSampleOperations } from './sample-operations.ts'

const getSampleOperation = (id: string): LoadedOperation => sampleOperations.find((each) => each.id === id)!

describe('descriptorOf', () => {
  test('a descriptor has the operation and its input', () => {
    expect(getDescriptor(getSampleOperation('post_gadgets_by_id_screws_by_screwId_tighten'))).toEqual({
      id: 'post_gadgets_by_id_screws_by_screwId_tighten',
      method: 'POST',
      path: '/gadgets/:id/screws/:screwId/tighten',
      description: 'Tighten a screw of a gadget in the background.',
      scopes: ['platform:write', 'team:write'],
      readOnly: false,
      pathParameters: [
        { name: 'id', description: 'Id of one of the gadgets', required: true, schema: { type: 'string' } },
        {
          name: 'screwId',
          description: 'The screw, as the gadget names it',
          required: true,
          schema: { type: 'string' },
        },
      ],
      deprecated: null,
      input: {
        body: {
          type: 'object',
          properties: { turns: { type: 'integer', minimum: 1, maximum: 9 } },
          required: [],
          additionalProperties: false,
        },
      },
    })
  })

  test('a descriptor says since when the operation is deprecated', () => {
    expect(getDescriptor(getSampleOperation('patch_gadget_preferences')).deprecated).toEqual({
      since: '2026-11-20',
      sunset: '2027-05-01',
      link: '/docs/guides/clients',
    })
  })

  test('a descriptor without input omits it', () => {
    expect(getDescriptor(getSampleOperation('delete_gadgets_by_id'))).not.toHaveProperty('input')
    expect(getDescriptor(getSampleOperation('get_gadget_weather'))).toMatchObject({
      pathParameters: [],
      scopes: [],
    })
    expect(getDescriptor(getSampleOperation('get_gadgets')).input).not.toHaveProperty('body')
  })

  test('a query has required parameters and defaults', () => {
    expect(getDescriptor(getSampleOperation('get_gadgets')).input!.query).toMatchObject({
      type: 'object',
      properties: {
        page: { type: 'integer', default: 1 },
        kinds: { type: 'array', items: { enum: ['round', 'square'] } },
      },
      required: ['since'],
      additionalProperties: false,
    })
  })

  test('unions and free JSON use the four keywords too', () => {
    const choice = getDescriptor(getSampleOperation('put_gadget_shape')).input!.body!
    expect(choice).toMatchObject({ type: 'object', properties: {}, required: [], additionalProperties: true })
    expect(choice.anyOf).toHaveLength(2)
    expect(getDescriptor(getSampleOperation('patch_gadget_preferences')).input!.body).toMatchObject({
      type: 'object',
      properties: {},
      required: [],
      additionalProperties: {},
    })
  })

  test('ignored body fields are marked', () => {
    const { body } = getDescriptor(getSampleOperation('patch_gadgets_by_id')).input!
    expect(body!.properties.id).toMatchObject({ readOnly: true })
    expect(body!.properties.name).not.toHaveProperty('readOnly')
  })

  test('a descriptor is built once and equals its text', () => {
    const one = getSampleOperation('post_gadgets')
    expect(getDescriptor(one)).toBe(getDescriptor(one))
    expect(JSON.parse(getDescriptorText(one))).toEqual(getDescriptor(one))
  })

  test('every descriptor is JSON Schema 2020-12 without references', async () => {
    const ajv = new Ajv2020({ strict: false })
    for (const each of withSampleOperations(await loadRegistry()).operations) {
      expect(getDescriptorText(each)).not.toContain('"$ref"')
      for (const schema of Object.values(getDescriptor(each).input ?? {})) {
        expect(ajv.validateSchema(schema), `${each.id}: ${ajv.errorsText()}`).toBe(true)
        expect(Object.keys(schema)).toEqual(
          expect.arrayContaining(['type', 'properties', 'required', 'additionalProperties']),
        )
      }
    }
  })
})

describe('GET /operations', () => {
  const now = Date.parse('2026-11-20T12:00:00.000Z')
  const paying = {
    status: 'active',
    current_period_end: new Date('2026-12-01T00:00:00Z'),
    trial_ends_at: null,
    grace_ends_at: null,
    ends_at: null,
    paused_at: null,
    plan_id: 'scale',
    scheduled_change: null,
  }
  const owner: Access = {
    keyId: 'key',
    parentKeyId: null,
    storeId: 'store',
    userId: 'user',
    role: 'owner',
    scopes: new Set(allScopes),
    expiresAt: null,
    subscription: paying,
    store: {
      id: 'store',
      name: 'Shop',
      slug: 'shop',
      publicId: 'public',
      domain: 'shop.example.com',
      country: 'BR',
      currency: 'BRL',
      timezone: 'America/Sao_Paulo',
      locale: 'pt-BR',
    },
  }
  const onPlan = (plan_id: string): Access => ({ ...owner, subscription: { ...paying, plan_id } })
  const whilePaused = operation({
    method: 'POST',
    path: '/gadgets/wake',
    description: 'Wake the gadgets.',
    scopes: ['platform:write'],
    readOnly: false,
    feature: 'campaigns',
    whilePaused: true,
    answer: { status: 204 },
    handler: () => {},
  })
  let registry: Registry
  beforeAll(async () => {
    const real = withSampleOperations(await loadRegistry())
    const wake = loadOperation('operations/gadgets/wake.ts', sampleOperations[0]!.section, whilePaused)
    registry = { ...real, operations: [...real.operations, wake] }
  })

  /** Ids listed for a key at an instant, or for a job. */
  async function listed(access: Access | null, at = now): Promise<string[]> {
    const clock = frozenClock(new Date(at))
    const actor: Actor = access
      ? {
          kind: 'key',
          userId: 'user',
          role: access.role,
          scopes: access.scopes,
          requestId: 'r',
          keyId: 'key',
          access,
        }
      : jobActor('user', 'r')
    const database = { unreachableStores: new Set() }
    const services = { catalog: buildCatalog(registry), clock, database } as unknown as Services
    const ctx = new Context(services, owner.store, actor, silentLog())
    const { spec } = listOperations
    const answer = await spec.handler(ctx, { params: {}, query: undefined, body: undefined })
    const { data } = JSON.parse((answer as JsonText).text) as { data: Descriptor[] }
    expect(answer).toBeInstanceOf(JsonText)
    expect(spec.answer.body!.safeParse({ data }).error?.issues).toBeUndefined()
    const may = registry.operations.filter(
      (each) => access && checkAccess(each, access, at, registry.extensions.entitlement) === null,
    )
    expect(data).toEqual(may.map(getDescriptor))
    return data.map((each) => each.id)
  }

  test('the operations allowed for the key are listed in the order of the documents', async () => {
    const ids = await listed(owner)
    expect(ids.slice(0, 2)).toEqual(['get_operations', 'get_openapi_json'])
    expect(ids).toContain('put_gadget_shape')
    expect(ids).not.toContain('get_gadgets')
  })

  test('operations not allowed by scopes, role or plan are left out', async () => {
    const reader = await listed({ ...owner, scopes: new Set(['platform:read']) })
    expect(reader).toContain('get_gadgets_by_id')
    expect(reader).not.toContain('post_gadgets')
    const member = await listed({ ...owner, role: 'member' })
    expect(member).toContain('post_gadgets')
    expect(member).not.toContain('put_gadget_shape')
    expect(member).not.toContain('post_gadgets_by_id_screws_by_screwId_tighten')
    expect(await listed({ ...owner, role: 'agent' })).not.toContain('post_gadgets')
    expect(await listed(onPlan('starter'))).not.toContain('post_gadgets_wake')
    expect(await listed(onPlan('growth'))).toContain('post_gadgets_wake')
  })

  test('writes are left out from the instant the subscription ends', async () => {
    const trial = {
      ...owner,
      subscription: { ...paying, status: 'trialing', trial_ends_at: new Date(now + 1000) },
    }
    expect(await listed(trial, now + 999)).toContain('post_gadgets')
    const after = await listed(trial, now + 1000)
    expect(after).not.toContain('post_gadgets')
    expect(after).toEqual(expect.arrayContaining(['get_gadgets_by_id', 'post_gadgets_wake']))
  })

  test('a caller without a key gets nothing', async () => {
    await expect(listed(null)).rejects.toMatchObject({ code: 'unauthorized' })
  })
})
