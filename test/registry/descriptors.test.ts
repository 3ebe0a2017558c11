import { Ajv2020 } from 'ajv/dist/2020.js'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Access } from '#db/access'
import listOperations from '#operations/discovery/api/list-operations'
import { type Actor, Context, jobActor, type Services } from '#runtime/context'
import { type Descriptor, descriptorOf, descriptorText } from '#runtime/documents/descriptors'
import { refusalOf } from '#runtime/gateway/access'
import { JsonText, operation } from '#runtime/operation'
import { catalogOf } from '#runtime/registry/catalog'
import type { LoadedOperation, Registry } from '#runtime/registry/loaded'
import { loadedOperation, loadRegistry } from '#runtime/registry/registry'
import { allScopes } from '#runtime/roles'
import { silentLog } from '#runtime/server/log'
import { standingClock } from '#test/support/test-clock'
import { madeUpOperations, withMadeUp } from './made-up.ts'

const made = (id: string): LoadedOperation => madeUpOperations.find((each) => each.id === id)!

describe('descriptorOf', () => {
  test('says what an operation is and takes', () => {
    expect(descriptorOf(made('post_gadgets_by_id_screws_by_screwId_tighten'))).toEqual({
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

  test('leaves input out where there is none', () => {
    expect(descriptorOf(made('delete_gadgets_by_id'))).not.toHaveProperty('input')
    expect(descriptorOf(made('get_gadget_weather'))).toMatchObject({ pathParameters: [], scopes: [] })
    expect(descriptorOf(made('get_gadgets')).input).not.toHaveProperty('body')
  })

  test('a query says what is required and what it is without', () => {
    expect(descriptorOf(made('get_gadgets')).input!.query).toMatchObject({
      type: 'object',
      properties: {
        page: { type: 'integer', default: 1 },
        kinds: { type: 'array', items: { enum: ['round', 'square'] } },
      },
      required: ['since'],
      additionalProperties: false,
    })
  })

  test('has the four keywords for a choice and for free JSON too', () => {
    const choice = descriptorOf(made('put_gadget_shape')).input!.body!
    expect(choice).toMatchObject({ type: 'object', properties: {}, required: [], additionalProperties: true })
    expect(choice.anyOf).toHaveLength(2)
    expect(descriptorOf(made('patch_gadget_preferences')).input!.body).toMatchObject({
      type: 'object',
      properties: {},
      required: [],
      additionalProperties: {},
    })
  })

  test('marks what a body takes and ignores', () => {
    const { body } = descriptorOf(made('patch_gadgets_by_id')).input!
    expect(body!.properties.id).toMatchObject({ readOnly: true })
    expect(body!.properties.name).not.toHaveProperty('readOnly')
  })

  test('is made once, and its text says the same', () => {
    const one = made('post_gadgets')
    expect(descriptorOf(one)).toBe(descriptorOf(one))
    expect(JSON.parse(descriptorText(one))).toEqual(descriptorOf(one))
  })

  test('of every operation holds JSON Schema 2020-12 without references', async () => {
    const ajv = new Ajv2020({ strict: false })
    for (const each of withMadeUp(await loadRegistry()).operations) {
      expect(descriptorText(each)).not.toContain('"$ref"')
      for (const schema of Object.values(descriptorOf(each).input ?? {})) {
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
    const real = withMadeUp(await loadRegistry())
    const wake = loadedOperation('operations/gadgets/wake.ts', madeUpOperations[0]!.section, whilePaused)
    registry = { ...real, operations: [...real.operations, wake] }
  })

  /** The ids it lists for a key at an instant, or for a job. */
  async function listed(access: Access | null, at = now): Promise<string[]> {
    const clock = standingClock(new Date(at))
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
    const database = { awayStores: new Set() }
    const services = { catalog: catalogOf(registry), clock, database } as unknown as Services
    const ctx = new Context(services, owner.store, actor, silentLog())
    const { spec } = listOperations
    const answer = await spec.handler(ctx, { params: {}, query: undefined, body: undefined })
    const { data } = JSON.parse((answer as JsonText).text) as { data: Descriptor[] }
    expect(answer).toBeInstanceOf(JsonText)
    expect(spec.answer.body!.safeParse({ data }).error?.issues).toBeUndefined()
    const may = registry.operations.filter(
      (each) => access && refusalOf(each, access, at, registry.wired.entitlement) === null,
    )
    expect(data).toEqual(may.map(descriptorOf))
    return data.map((each) => each.id)
  }

  test('lists what the key may run, in the order of the documents', async () => {
    const ids = await listed(owner)
    expect(ids.slice(0, 2)).toEqual(['get_operations', 'get_openapi_json'])
    expect(ids).toContain('put_gadget_shape')
    expect(ids).not.toContain('get_gadgets')
  })

  test('leaves out what scopes, role and plan do not allow', async () => {
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

  test('leaves writes out from the very instant that the subscription ends', async () => {
    const trial = {
      ...owner,
      subscription: { ...paying, status: 'trialing', trial_ends_at: new Date(now + 1000) },
    }
    expect(await listed(trial, now + 999)).toContain('post_gadgets')
    const after = await listed(trial, now + 1000)
    expect(after).not.toContain('post_gadgets')
    expect(after).toEqual(expect.arrayContaining(['get_gadgets_by_id', 'post_gadgets_wake']))
  })

  test('has nothing for who is no key', async () => {
    await expect(listed(null)).rejects.toMatchObject({ code: 'unauthorized' })
  })
})
