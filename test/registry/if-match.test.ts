/** Every write of a resource that has an ETag takes If-Match; an ETag is made of what the merchant edits. */
import { describe, expect, test } from 'vitest'
import createTag from '#operations/inbox/tags/api/create-tag'
import deleteTag from '#operations/inbox/tags/api/delete-tag'
import updateTag from '#operations/inbox/tags/api/update-tag'
import createBundle from '#operations/promotions/bundles/api/create-bundle'
import createPromotion from '#operations/promotions/promotions/api/create-promotion'
import deletePromotion from '#operations/promotions/promotions/api/delete-promotion'
import updatePromotion from '#operations/promotions/promotions/api/update-promotion'
import { etagOf, identityOfTag } from '#runtime/gateway/etag'
import { identityOf, readersOf } from '#runtime/gateway/if-match'
import { innerOf } from '#runtime/references'
import type { LoadedOperation } from '#runtime/registry/loaded'
import { movesOf, nameOf, z } from '#runtime/schema'
import { testApp, wholeRegistry } from '#test/support/app'
import { connectedStore } from '#test/support/platform'

const registry = await wholeRegistry()
const { operations } = registry
const app = await testApp()

/** Writes that need none, and why. */
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
    const takes = readersOf(operations, operation).length > 0
    expect(takes ? 'takes If-Match' : (without[id] ?? 'neither takes If-Match nor says why'), id).toBe(
      id in without ? without[id] : 'takes If-Match',
    )
  })

  test('no reason is told of what is not there', () => {
    expect(Object.keys(without).filter((id) => !operations.some((each) => each.id === id))).toEqual([])
  })

  test('a write below a read with an ETag takes it by its path alone', () => {
    const send = registry.byId('post_campaigns_by_id_send')!
    expect(send.spec.ifMatch).toBeUndefined()
    expect(readersOf(operations, send)).toHaveLength(1)
    expect(readersOf(operations, registry.byId('get_campaigns_by_id')!)).toEqual([])
  })
})

/** Fields that no body takes and that stay in the ETag: they tell one resource from another, or never move alone. */
const edited: Record<string, readonly string[]> = {
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
    'number type status orderId orderNumber orderPlacedAt orderDeliveredAt customer customerAddress comment amount priceDifference currency outsideWindow trackingCode rejectionCode rejectionReason expiresAt approvedAt rejectedAt inTransitAt receivedAt completedAt cancelledAt expiredAt photos'.split(
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
  if (spec.etag && body && 'shape' in body) shapes.set(nameOf(body) ?? spec.path, body as z.AnyZodObject)
}

/** What a body takes in earnest: what is read-only is taken as anything, and passed over. */
function takenOf(schema: z.AnyZodObject): Set<string> {
  const bodies = operations.flatMap(({ spec }) =>
    !spec.readOnly && spec.answer.body === schema && spec.input?.body ? spec.input.body : [],
  )
  return new Set(
    bodies.flatMap((body) =>
      Object.entries(shapeOf(body)).flatMap(([field, taken]) => (isPassedOver(taken) ? [] : field)),
    ),
  )
}
const shapeOf = (body: z.ZodTypeAny): z.ZodRawShape => {
  if ('shape' in body) return body.shape as z.ZodRawShape
  const inner = body._def.schema ?? body._def.innerType
  return inner ? shapeOf(inner) : {}
}
const isPassedOver = (schema: z.ZodTypeAny): boolean => {
  const inner = schema._def.innerType ?? schema._def.schema
  return schema._def.typeName === 'ZodUnknown' || (inner !== undefined && isPassedOver(inner))
}

/** Every field, at every depth: `items.name` of a list `items`. Below what takes anything there is `*` alone. */
function pathsOf(schema: z.ZodTypeAny, path = ''): string[] {
  if (isPassedOver(schema)) return []
  const inner = innerOf(schema)
  if (inner) return pathsOf(inner, path)
  if (schema instanceof z.ZodArray) return pathsOf(schema.element, path)
  if (schema instanceof z.ZodRecord) return [`${path}.*`]
  if (schema instanceof z.ZodDiscriminatedUnion || schema instanceof z.ZodUnion) {
    return (schema.options as z.ZodTypeAny[]).flatMap((option) => pathsOf(option, path))
  }
  if (!('shape' in schema)) return [path]
  const at = (name: string): string => (path === '' ? name : `${path}.${name}`)
  return Object.entries(schema.shape as z.ZodRawShape).flatMap(([name, field]) => pathsOf(field, at(name)))
}

/** Fields within fields that no body takes and that stay in the ETag, by what they belong to. */
const editedWithin: Record<string, readonly string[]> = {
  ExchangeRequest: [
    ...'orderItemId productId variantId sku name variantName imageUrl quantity unitPrice reason'.split(' '),
    ...'reasonLabel comment'.split(' '),
    ...'productId variantId name variantName unitPrice'.split(' ').map((field) => `exchangeFor.${field}`),
  ].map((field) => `items.${field}`),
}

describe('an ETag', () => {
  test.each([...shapes])('of %s: what is within what is edited is edited, or moves', (name, schema) => {
    const top = takenOf(schema)
    const bodies = operations.flatMap(({ spec }) =>
      !spec.readOnly && spec.answer.body === schema && spec.input?.body ? spec.input.body : [],
    )
    const taken = bodies.flatMap((body) => pathsOf(body))
    const known = [...taken, ...movesOf(schema), ...(editedWithin[name] ?? [])]
    const isKnown = (path: string): boolean =>
      known.some((each) => each === path || (each.endsWith('.*') && path.startsWith(each.slice(0, -1))))
    const within = pathsOf(schema).filter((path) => path.includes('.') && top.has(path.split('.')[0]!))
    expect([...new Set(within)].filter((path) => !isKnown(path))).toEqual([])
  })

  test.each([...shapes])('of %s is made of what the merchant edits', (name, schema) => {
    const taken = takenOf(schema)
    const own = ['id', 'createdAt', 'updatedAt', ...movesOf(schema), ...(edited[name] ?? [])]
    expect(Object.keys(schema.shape).filter((field) => !taken.has(field) && !own.includes(field))).toEqual([])
  })

  test.each([...shapes].filter(([, schema]) => movesOf(schema).length > 0))(
    'of %s stays when those move, and changes with everything else',
    (_name, schema) => {
      const moved = movesOf(schema)
      const of = (value: unknown) => etagOf(identityOf(value, moved))
      /** A value of a field whose lists have one entry, with `value` at the end of the path. */
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
      // As a proxy gives it on that packs the answers: `"…"`, `W/"…"` or `"…-gzip"`.
      for (const seen of [tag, `W/${tag}`, tag.replace(/"$/, '-gzip"')]) {
        const fresh = await shop.request(spec.method, path, { body, headers: { 'if-match': seen } })
        expect([fresh.status, fresh.body.error], `${path} ${seen}`).toEqual([200, undefined])
        expect(identityOfTag(fresh.headers.get('etag')!), path).toBe(identityOfTag(tag))
      }
    }
  })

  test('a tag: stale 409, fresh passes, what counts by itself changes nothing', async () => {
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

  test('a promotion: what orders and the platform move leaves its ETag; of two writers one wins', async () => {
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

  test('what is made has no ETag to meet', async () => {
    expect(readersOf(operations, operations.find(({ spec }) => spec === createBundle.spec)!)).toEqual([])
  })
})
