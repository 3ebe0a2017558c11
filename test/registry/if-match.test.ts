/** Every write of a resource with an ETag supports If-Match; an ETag covers what the merchant edits. */
import { describe, expect, test } from 'vitest'
import createTag from '#operations/inbox/tags/api/create-tag'
import deleteTag from '#operations/inbox/tags/api/delete-tag'
import updateTag from '#operations/inbox/tags/api/update-tag'
import createBundle from '#operations/promotions/bundles/api/create-bundle'
import createPromotion from '#operations/promotions/promotions/api/create-promotion'
import deletePromotion from '#operations/promotions/promotions/api/delete-promotion'
import updatePromotion from '#operations/promotions/promotions/api/update-promotion'
import { buildEtag, toIdentityTag } from '#runtime/gateway/etag'
import { getIdentityText, getIfMatchReaders } from '#runtime/gateway/if-match'
import { unwrapSchema } from '#runtime/references'
import type { LoadedOperation } from '#runtime/registry/loaded'
import { getSchemaName, getVolatileFields, z } from '#runtime/schema'
import { testApp, wholeRegistry } from '#test/support/app'
import { connectedStore } from '#test/support/platform'

const registry = await wholeRegistry()
const { operations } = registry
const app = await testApp()

/** Exempt writes, with the reason. */
const without: Record<string, string> = {
  delete_stores_team_invitations_by_id: 'an invitation is never edited',
  delete_stores_team_members_by_userId: 'no answer about a member has an ETag',
  delete_chat_agent_bindings_by_phone: 'no answer about a binding has an ETag',
  delete_campaigns_opt_outs_by_phone: 'an opt-out is never edited',
  delete_inbox_notes_by_noteId: 'a note is never edited',
  delete_inbox_quick_replies_by_id: 'no answer about a quick reply has an ETag',
  delete_notifications_remove: 'no answer about a notification has an ETag',
  put_store_testimonials: 'testimonials are read as one list, without an ETag',
  patch_store_testimonials: 'testimonials are read as one list, without an ETag',
  patch_store_testimonials_reorder: 'testimonials are read as one list, without an ETag',
  delete_store_testimonials_by_id: 'testimonials are read as one list, without an ETag',
  put_store_testimonials_settings: 'testimonials are read as one list, without an ETag',
  patch_product_content_blocks_reorder: 'of the order of all blocks, which has no ETag',
}

const changes = ({ spec }: LoadedOperation): boolean =>
  !spec.readOnly &&
  (['PATCH', 'PUT', 'DELETE'].includes(spec.method) || (spec.etag === true && spec.answer.status === 200))

describe('the registry', () => {
  test.each(operations.filter(changes).map((each) => [each.id, each] as const))('%s', (id, operation) => {
    const takes = getIfMatchReaders(operations, operation).length > 0
    expect(takes ? 'takes If-Match' : (without[id] ?? 'neither takes If-Match nor says why'), id).toBe(
      id in without ? without[id] : 'takes If-Match',
    )
  })

  test('every exemption matches an existing write', () => {
    expect(Object.keys(without).filter((id) => !operations.some((each) => each.id === id))).toEqual([])
  })

  test('a write below a read with an ETag declares it by its path only', () => {
    const send = registry.byId('post_campaigns_by_id_send')!
    expect(send.spec.ifMatch).toBeUndefined()
    expect(getIfMatchReaders(operations, send)).toHaveLength(1)
    expect(getIfMatchReaders(operations, registry.byId('get_campaigns_by_id')!)).toEqual([])
  })
})

/** Fields in the ETag that no body accepts: they identify the resource, or never change alone. */
const editableFields: Record<string, readonly string[]> = {
  '/operations': 'data'.split(' '),
  OpenApiDocument: 'openapi info servers tags paths components'.split(' '),
  StoreRecord:
    'name domain slug publicId platform platformStoreId email phone country currency timezone locale logoUrl agencyId messagingConnectionType attribution preferences onboardingCompletedAt joinedAt'.split(
      ' ',
    ),
  Branding:
    'hasBranding agencyName logoUrl faviconUrl primaryColor secondaryColor supportEmail supportPhone supportUrl dashboardDomain hideServiceBrand'.split(
      ' ',
    ),
  Store:
    'name domain slug publicId platform email phone country currency timezone locale logoUrl settings joinedAt'.split(
      ' ',
    ),
  Invitation: 'status invitedBy expiresAt'.split(' '),
  Onboarding: 'activatedFeatures'.split(' '),
  MessagingSession: 'type connected phone connectedAt'.split(' '),
  Template: 'placeholders'.split(' '),
  OfficialConnection: 'connected phone connectedAt'.split(' '),
  Automation: 'activatedAt flowVersion createdBy'.split(' '),
  OptOut: 'source campaignId'.split(' '),
  ContactList: 'source filters'.split(' '),
  Contact: 'listId source platformCustomerId'.split(' '),
  Campaign: 'createdBy'.split(' '),
  Conversation: 'contactId phone contactName pinnedAt assignee tags tierSource'.split(' '),
  InboxNote: 'conversationId author'.split(' '),
  TierSettings: 'currency'.split(' '),
  Review:
    'productId productName productImageUrl variantId variantName orderId orderItemId orderNumber customerName customerEmail customerPhone rating title images rejectionReason verifiedSource reply source reviewedAt moderatedAt moderatedBy'.split(
      ' ',
    ),
  StockSubscription:
    'productId variantId productName variantName sku productUrl productImageUrl channel email phone name source'.split(
      ' ',
    ),
  Promotion: 'currency label'.split(' '),
  Bundle: 'currency'.split(' '),
  CartGift: 'currency'.split(' '),
  FreeShippingBarSettings: 'currency'.split(' '),
  ExchangeRequest:
    'number type status orderId orderNumber orderPlacedAt orderDeliveredAt customer customerAddress comment amount amountReason priceDifference currency outsideWindow trackingCode rejectionCode rejectionReason expiresAt approvedAt rejectedAt inTransitAt receivedAt completedAt cancelledAt expiredAt photos'.split(
      ' ',
    ),
  Subscription:
    'planId billingCycle currency provider trialEndsAt cancelledAt endsAt pausedAt cancelReason pauseReason scheduledChange coupon paymentMethod'.split(
      ' ',
    ),
}

const shapes = new Map<string, z.AnyZodObject>()
for (const { spec } of operations) {
  const { body } = spec.answer
  if (spec.etag && body && 'shape' in body)
    shapes.set(getSchemaName(body) ?? spec.path, body as z.AnyZodObject)
}

/** Keys that a body really accepts; read-only ones are accepted and ignored. */
function findAcceptedKeys(schema: z.AnyZodObject): Set<string> {
  const bodies = operations.flatMap(({ spec }) =>
    !spec.readOnly && spec.answer.body === schema && spec.input?.body ? spec.input.body : [],
  )
  return new Set(
    bodies.flatMap((body) =>
      Object.entries(getShape(body)).flatMap(([field, taken]) => (isIgnored(taken) ? [] : field)),
    ),
  )
}
const getShape = (body: z.ZodTypeAny): z.ZodRawShape => {
  if ('shape' in body) return body.shape as z.ZodRawShape
  const inner = body._def.schema ?? body._def.innerType
  return inner ? getShape(inner) : {}
}
const isIgnored = (schema: z.ZodTypeAny): boolean => {
  const inner = schema._def.innerType ?? schema._def.schema
  return schema._def.typeName === 'ZodUnknown' || (inner !== undefined && isIgnored(inner))
}

/** All field paths, such as `items.name` for a list `items`; `*` below free JSON. */
function listPaths(schema: z.ZodTypeAny, path = ''): string[] {
  if (isIgnored(schema)) return []
  const inner = unwrapSchema(schema)
  if (inner) return listPaths(inner, path)
  if (schema instanceof z.ZodArray) return listPaths(schema.element, path)
  if (schema instanceof z.ZodRecord) return [`${path}.*`]
  if (schema instanceof z.ZodDiscriminatedUnion || schema instanceof z.ZodUnion) {
    return (schema.options as z.ZodTypeAny[]).flatMap((option) => listPaths(option, path))
  }
  if (!('shape' in schema)) return [path]
  const at = (name: string): string => (path === '' ? name : `${path}.${name}`)
  return Object.entries(schema.shape as z.ZodRawShape).flatMap(([name, field]) => listPaths(field, at(name)))
}

/** Nested fields in the ETag that no body accepts, by resource. */
const editableNestedFields: Record<string, readonly string[]> = {
  ExchangeRequest: [
    ...'orderItemId productId variantId sku name variantName imageUrl quantity unitPrice reason'.split(' '),
    ...'reasonLabel comment'.split(' '),
    ...'productId variantId name variantName unitPrice'.split(' ').map((field) => `exchangeFor.${field}`),
  ].map((field) => `items.${field}`),
}

describe('an ETag', () => {
  test.each([...shapes])('%s: nested fields of editable fields are editable or volatile', (name, schema) => {
    const top = findAcceptedKeys(schema)
    const bodies = operations.flatMap(({ spec }) =>
      !spec.readOnly && spec.answer.body === schema && spec.input?.body ? spec.input.body : [],
    )
    const taken = bodies.flatMap((body) => listPaths(body))
    const known = [...taken, ...getVolatileFields(schema), ...(editableNestedFields[name] ?? [])]
    const isKnown = (path: string): boolean =>
      known.some((each) => each === path || (each.endsWith('.*') && path.startsWith(each.slice(0, -1))))
    const within = listPaths(schema).filter((path) => path.includes('.') && top.has(path.split('.')[0]!))
    expect([...new Set(within)].filter((path) => !isKnown(path))).toEqual([])
  })

  test.each([...shapes])('the ETag of %s covers what the merchant edits', (name, schema) => {
    const taken = findAcceptedKeys(schema)
    const own = [
      'id',
      'createdAt',
      'updatedAt',
      ...getVolatileFields(schema),
      ...(editableFields[name] ?? []),
    ]
    expect(Object.keys(schema.shape).filter((field) => !taken.has(field) && !own.includes(field))).toEqual([])
  })

  test.each([...shapes].filter(([, schema]) => getVolatileFields(schema).length > 0))(
    'the ETag of %s ignores volatile fields and changes with all others',
    (_name, schema) => {
      const moved = getVolatileFields(schema)
      const of = (value: unknown) => buildEtag(getIdentityText(value, moved))
      /** Builds a value with `value` at the end of the path; lists have one entry. */
      const holding = ([name, ...rest]: string[], value: string, isList: boolean): unknown => {
        if (name === undefined) return value
        const held = { kept: 1, [name]: holding(rest, value, isList) }
        return isList ? [held] : held
      }
      const example: Record<string, unknown> = Object.fromEntries(
        Object.keys(schema.shape).map((field) => [field, 'one']),
      )
      for (const path of moved) {
        const [field, ...rest] = path.split('.') as [string, ...string[]]
        expect(Object.keys(schema.shape), path).toContain(field)
        for (const isList of [true, false]) {
          const with_ = (value: string) => of({ ...example, [field]: holding(rest, value, isList) })
          expect(with_('one'), path).toBe(with_('another'))
        }
      }
      for (const field of Object.keys(schema.shape).filter((each) => !moved.includes(each))) {
        expect(of({ ...example, [field]: 'another' }), field).not.toBe(of(example))
      }
    },
  )
})

const settings = operations.filter(
  ({ spec }) =>
    spec.method === 'GET' &&
    spec.etag &&
    !spec.path.includes(':') &&
    operations.some(
      (write) => !write.spec.readOnly && write.spec.input?.body && write.spec.path === spec.path,
    ),
)

describe('read, change, send back', async () => {
  const shop = await connectedStore(app)
  test.each(settings.map((each) => [each.spec.path, each] as const))('%s', async (path) => {
    const read = await shop.request('GET', path)
    const tag = read.headers.get('etag')!
    expect([read.status, tag]).toEqual([200, expect.any(String)])
    const writes = operations.filter(
      ({ spec }) => !spec.readOnly && spec.method !== 'DELETE' && spec.input?.body && spec.path === path,
    )
    for (const { spec } of writes) {
      if (spec.answer.status !== 200) continue
      const body = { ...read.body }
      const stale = await shop.request(spec.method, path, { body, headers: { 'if-match': '"stale"' } })
      expect([stale.status, stale.body.error?.message], path).toEqual([
        409,
        'If-Match: the resource has changed since it was read: read it again',
      ])
      // Compressing proxies forward the tag as `"…"`, `W/"…"` or `"…-gzip"`.
      for (const seen of [tag, `W/${tag}`, tag.replace(/"$/, '-gzip"')]) {
        const fresh = await shop.request(spec.method, path, { body, headers: { 'if-match': seen } })
        expect([fresh.status, fresh.body.error], `${path} ${seen}`).toEqual([200, undefined])
        expect(toIdentityTag(fresh.headers.get('etag')!), path).toBe(toIdentityTag(tag))
      }
    }
  })

  test('a stale tag is 409, a fresh one passes, counters do not change it', async () => {
    const made = await shop.call(createTag, { body: { name: 'VIP' } })
    const first = made.headers.get('etag')!
    const params = { tagId: made.body.id }
    const change = (name: string, tag: string) =>
      shop.call(updateTag, { params, body: { name }, headers: { 'if-match': tag } })
    const changed = await change('Best', first)
    expect([changed.status, (await change('Worst', first)).status]).toEqual([200, 409])
    const remove = (tag: string) => shop.call(deleteTag, { params, headers: { 'if-match': tag } })
    expect((await remove(first)).status).toBe(409)
    expect((await remove(changed.headers.get('etag')!)).status).toBe(204)
  })

  test('changes by orders and the platform keep a promotion`s ETag; one of two writers wins', async () => {
    const made = await shop.call(createPromotion, {
      body: {
        name: 'Três por dois',
        productIds: ['1001'],
        scope: 'products',
        buyQuantity: 3,
        payQuantity: 2,
      },
    })
    expect([made.status, made.body.error]).toEqual([201, undefined])
    const tag = made.headers.get('etag')!
    await app.drainJobs()
    await app.database.query(
      `update discounts set usage_count = 7, discount_total = 12,
        updated_at = '2030-01-01T00:00:00Z' where id = $1`,
      [made.body.id],
    )
    const params = { id: made.body.id }
    const write = (name: string) =>
      shop.call(updatePromotion, { params, body: { name }, headers: { 'if-match': tag } })
    const both = await Promise.all([write('Eins'), write('Zwei')])
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409])
    expect((await shop.call(deletePromotion, { params, headers: { 'if-match': tag } })).status).toBe(409)
    const now = both.find(({ status }) => status === 200)!.headers.get('etag')!
    expect((await shop.call(deletePromotion, { params, headers: { 'if-match': now } })).status).toBe(204)
  })

  test('creating a resource needs no If-Match', async () => {
    expect(getIfMatchReaders(operations, operations.find(({ spec }) => spec === createBundle.spec)!)).toEqual(
      [],
    )
  })
})
