/** The demo store, which has data in all sections, for tests of all resources. */
import { expect } from 'vitest'
import { type Context, SystemContext } from '#runtime/context'
import { buildExample } from '#runtime/documents/example'
import { publish } from '#runtime/documents/publish'
import { toIdentityTag } from '#runtime/gateway/etag'
import { getIfMatchReaders } from '#runtime/gateway/if-match'
import { JsonText } from '#runtime/operation'
import type { LoadedOperation } from '#runtime/registry/loaded'
import { ignoredKeys, z } from '#runtime/schema'
import type { AppOptions } from '#runtime/server/app'
import { seedDemo } from '#scripts/seed/demo'
import { type TestApp, testApp, wholeRegistry } from '#test/support/app'

export interface Sent {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests look into any answer
  body: any
  tag: string | null
}
/** Query for a resource of the demo, by the first pattern that matches the operation's path. */
const resourceQueries: readonly [RegExp, string][] = [
  [
    /^\/messaging\/templates\/:id/,
    `select id from message_templates where store_id = $1 and status = 'approved'`,
  ],
  [/^\/messaging-button\/:/, 'select id as "messagingButtonId" from messaging_buttons where store_id = $1'],
  [
    /^\/automations\/:id/,
    'select id from automations where store_id = $1 and deleted_at is null and is_active',
  ],
  [
    /^\/campaigns\/lists\/:id\/sync/,
    `select id from contact_lists where store_id = $1 and source = 'ecomplatform'`,
  ],
  [
    /^\/campaigns\/lists\/:id/,
    'select l.id, c.id as "contactId" from contact_lists l join list_contacts c on c.store_id = l.store_id and c.list_id = l.id where l.store_id = $1',
  ],
  [
    /^\/campaigns\/:id\/messages/,
    `select campaign_id as id, id as "messageId" from campaign_messages where store_id = $1 and status = 'failed'`,
  ],
  [/^\/campaigns\/:id\/(cancel)/, `select id from campaigns where store_id = $1 and status = 'scheduled'`],
  [
    /^\/campaigns\/:id\/(pause)/,
    `select id from campaigns where store_id = $1 and status in ('sending', 'paused', 'scheduled')`,
  ],
  [/^\/campaigns\/:id\/(resume)/, `select id from campaigns where store_id = $1 and status = 'paused'`],
  [
    /^\/campaigns\/:id/,
    `select id from campaigns where store_id = $1 and status = 'draft' and deleted_at is null`,
  ],
  [
    /^\/inbox\/conversations\/:id\/tags\/:tagId/,
    'select c.conversation_id as id, c.tag_id as "tagId" from inbox_conversation_tags c where c.store_id = $1',
  ],
  [/^\/inbox\/conversations\/:id/, 'select id from conversations where store_id = $1'],
  [/^\/inbox\/tags\/:tagId/, 'select id as "tagId" from inbox_tags where store_id = $1'],
  [
    /^\/product-reviews\/:reviewId/,
    `select id as "reviewId" from product_reviews where store_id = $1 and status = 'approved'`,
  ],
  [
    /^\/stock-notifications\/.*:/,
    'select id as "notificationId" from stock_subscriptions where store_id = $1',
  ],
  [/^\/promotions\/:id/, `select id from discounts where store_id = $1 and kind = 'promotion'`],
  [/^\/bundles\/:id/, `select id from discounts where store_id = $1 and kind = 'bundle'`],
  [/^\/cart-gifts\/:id/, `select id from discounts where store_id = $1 and kind = 'gift'`],
  [/^\/installments/, 'select id from installment_rules where store_id = $1'],
  [/^\/fomo-alerts/, 'select id from fomo_alerts where store_id = $1'],
  [/^\/product-content-blocks/, 'select id from content_blocks where store_id = $1'],
  [/^\/product-stickers/, `select id from product_labels where store_id = $1 and kind = 'sticker'`],
  [/^\/product-badges/, `select id from product_labels where store_id = $1 and kind = 'badge'`],
  [/^\/product-video-slider/, 'select product_id as "productId" from video_sliders where store_id = $1'],
  [/^\/shop-the-look\/looks/, 'select id from looks where store_id = $1'],
  [/^\/size-guides/, 'select id from size_guides where store_id = $1'],
  [/^\/store-testimonials$/, 'select id from testimonials where store_id = $1'],
  [
    /^\/product-exchanges\/requests\/:id/,
    `select id from exchange_requests where store_id = $1 and status = 'requested'`,
  ],
]

export const buildPath = (path: string, params: Record<string, string>): string =>
  path.replace(/:([A-Za-z]+)/g, (_all, name: string) => encodeURIComponent(params[name]!))

/** Bodies for operations whose generated example does not fit the demo. */
const bodies: Record<string, object> = {
  '/inbox/conversations/:id/tier': { tier: null },
  '/subscription/create-preapproval': { planId: 'growth', billingCycle: 'monthly' },
  '/officialapi/setup': { returnUrl: 'http://localhost/back' },
}

/** Body of a write: the fields that were read and are accepted; for partial writes the example. */
export function buildBody({ spec }: LoadedOperation, read: unknown, own: object): object | undefined {
  const schema = spec.input?.body
  if (!schema) return undefined
  if (['PUT', 'PATCH'].includes(spec.method) && schema instanceof z.ZodObject) {
    const ignored = ignoredKeys(schema)
    const fields = Object.entries(read as object).filter(
      ([name]) => name in schema.shape && !ignored.has(name),
    )
    if (schema.safeParse({ ...Object.fromEntries(fields), ...own }).success)
      return { ...Object.fromEntries(fields), ...own }
  }
  return { ...((bodies[spec.path] ?? spec.example?.body ?? buildExample(publish(schema))) as object), ...own }
}

/** Names of the resource that go into the body instead of the path. */
export function pickBodyNames({ spec }: LoadedOperation, names: Record<string, string>): object {
  const schema = spec.input?.body
  const isNamed = schema instanceof z.ZodObject
  return Object.fromEntries(
    Object.entries(names).filter(
      ([name]) => !spec.path.includes(`:${name}`) && isNamed && name in schema.shape,
    ),
  )
}

/** Sort key: writes that delete a resource or disconnect the number run last. */
export const getRunOrder = ({ spec }: LoadedOperation): number =>
  /disconnect|\/session$|^\/officialapi\/|^\/subscription\//.test(spec.path)
    ? 2
    : spec.method === 'DELETE'
      ? 1
      : 0

export async function openDemo(options: Partial<AppOptions> = {}) {
  const { operations } = await wholeRegistry()
  const app = await testApp({ publicUrl: 'https://api.example.com' }, options)
  const demo = await seedDemo(app.services, 'owner')
  const { key } = demo.keys[0]!
  const storeId = demo.stores.find(({ slug }) => slug === 'aurora-supply')!.id
  return { app, key, storeId, ...callsOf(app, storeId, key, operations) }
}

/** Calls of a store's operations by their declarations, and what they need: the ids of its resources, their state. */
export function callsOf(app: TestApp, storeId: string, key: string, operations: readonly LoadedOperation[]) {
  async function send(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Sent> {
    const response = await app.fetch(
      new Request(`https://api.example.com/v1${path}`, {
        method,
        headers: {
          authorization: `Bearer ${key}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
      { ip: '127.0.0.1' },
    )
    const text = await response.text()
    return {
      status: response.status,
      body: text === '' ? null : JSON.parse(text),
      tag: response.headers.get('etag'),
    }
  }

  /** The names of each resource of the operation; one without names if it has none. */
  async function allNamesOf({ spec }: LoadedOperation): Promise<Record<string, string>[]> {
    const query = resourceQueries.find(([pattern]) => pattern.test(spec.path))?.[1]
    if (!query) return [{}]
    const rows = await app.database.query<Record<string, string>>(`${query} order by 1`, [storeId])
    expect(rows, spec.path).not.toHaveLength(0)
    return rows.map((row) =>
      Object.fromEntries(Object.entries(row).map(([name, value]) => [name, String(value)])),
    )
  }
  const namesOf = async (operation: LoadedOperation): Promise<Record<string, string>> =>
    (await allNamesOf(operation))[0]!

  async function context(): Promise<Context> {
    const [row] = await app.database.query<{ user_id: string }>(
      `select user_id from memberships where store_id = $1 and role = 'owner'`,
      [storeId],
    )
    return (await new SystemContext(app.services, app.services.log, 'test').forStore(storeId, row!.user_id))!
  }

  /** The resource's current representation, if it has its own read. */
  async function readNow(
    operation: LoadedOperation,
    params: Record<string, string>,
    body: unknown,
  ): Promise<unknown> {
    const { ifMatch } = operation.spec
    if (ifMatch && 'read' in ifMatch) {
      const result = await ifMatch.read(await context(), { params, query: {}, body } as never)
      return result instanceof JsonText ? JSON.parse(result.text) : result
    }
    const reads = operations
      .filter(({ spec }) => spec.method === 'GET' && spec.etag)
      .filter(({ spec }) =>
        ifMatch
          ? ifMatch[0] === spec.path
          : operation.spec.path === spec.path || operation.spec.path.startsWith(`${spec.path}/`),
      )
      .sort((a, b) => b.spec.path.length - a.spec.path.length)
    const { body: read, tag } = await send('GET', buildPath(reads[0]!.spec.path, params))
    const reader = getIfMatchReaders(operations, operation)[0]!
    expect([operation.id, await reader.etag(await context(), { params, query: {}, body })]).toEqual([
      operation.id,
      tag && toIdentityTag(tag),
    ])
    return read
  }

  return { send, namesOf, allNamesOf, context, readNow }
}
