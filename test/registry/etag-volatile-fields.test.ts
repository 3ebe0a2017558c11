/** An ETag excludes volatile fields: changing them in the database changes the resource but not its ETag. */

import { describe, expect, test } from 'vitest'
import { toIdentityTag } from '#runtime/gateway/etag'
import { getIfMatchReaders } from '#runtime/gateway/if-match'
import { getSchemaName, getVolatileFields } from '#runtime/schema'
import { wholeRegistry } from '#test/support/app'
import { buildPath, openDemo } from './demo.ts'

const registry = await wholeRegistry()
const { app, storeId, namesOf, context, readNow, send } = await openDemo()

/** A constant instant: Citus cannot add an interval to a column. */
const later = `'2030-01-01T00:00:00Z'`

/** By resource with volatile fields: an operation that returns it, and the statements that change the fields. */
const buildEvent = (widget: string, id: string) =>
  `insert into widget_daily (store_id, widget, resource_id, day, impressions, clicks, cart_adds)
   values ($1, '${widget}', ${id}, '${app.clock.now().toISOString().slice(0, 10)}', 7, 3, 1)
   on conflict (store_id, widget, resource_id, day)
   do update set impressions = widget_daily.impressions + 7, clicks = widget_daily.clicks + 3`
const discount = `update discounts set usage_count = usage_count + 1, discount_total = discount_total + 5,
  sync_status = 'failed', sync_error = 'Busy', updated_at = ${later} where store_id = $1`
const moving: Record<string, [operation: string, ...statements: string[]]> = {
  MessagingButton: ['get_messaging_button', buildEvent('messaging-button', `''`)],
  Promotion: ['patch_promotions_by_id', discount],
  Bundle: ['patch_bundles_by_id', discount],
  CartGift: ['patch_cart_gifts_by_id', discount],
  VideoSlider: [
    'put_product_video_slider',
    'update video_sliders set impressions = impressions + 7, clicks = clicks + 1 where store_id = $1',
  ],
  HomeVideoSlider: [
    'get_product_video_slider_home',
    'update home_video_sliders set impressions = impressions + 7, clicks = clicks + 1 where store_id = $1',
  ],
  Look: [
    'post_shop_the_look_looks',
    `update looks set impressions = impressions + 7, clicks = clicks + 1, health = 'degraded', checked_at = ${later} where store_id = $1`,
  ],
  Conversation: [
    'post_inbox_conversations_by_id_pin',
    `update conversations set unread_count = unread_count + 1, message_count = message_count + 1, last_message_preview = 'Hello?', last_message_at = ${later}, updated_at = ${later} where store_id = $1`,
  ],
  TierSettings: [
    'get_inbox_tier_settings',
    `update conversations set tier = null where store_id = $1`,
    `update contacts set tier = null where store_id = $1`,
  ],
  Campaign: [
    'get_campaigns_by_id',
    `update campaigns set sent = sent + 1, status = 'sending', updated_at = ${later} where store_id = $1`,
  ],
  ContactList: [
    'get_campaigns_lists_by_id',
    `update contact_lists set size = size + 1, updated_at = ${later} where store_id = $1`,
  ],
  Automation: ['get_automations_by_id', `update automations set updated_at = ${later} where store_id = $1`],
  Template: [
    'get_messaging_templates_by_id',
    `update message_templates set quality = 'red', status = 'paused', updated_at = ${later} where store_id = $1`,
  ],
  StockAlertSettings: [
    'get_stock_notifications_settings',
    `update stock_alert_settings set last_stock_event_at = '2026-11-01T00:00:00Z' where store_id = $1`,
  ],
  StockSubscription: [
    'get_stock_notifications_by_notificationId',
    `update stock_subscriptions set status = 'failed', reason = 'expired', updated_at = ${later} where store_id = $1`,
  ],
  NewsletterSettings: [
    'get_newsletter_settings',
    `update newsletter_subscribers set prize_id = (select settings #>> '{roulette,prizes,0,id}' from newsletter_settings s where s.store_id = $1)::uuid where store_id = $1`,
  ],
  ExchangeRequest: [
    'get_product_exchanges_requests_by_id',
    `update exchange_requests set updated_at = ${later} where store_id = $1`,
  ],
  StoreRecord: ['get_store', `update stores set updated_at = ${later} where id = $1`],
  Store: ['get_store_information', `update stores set updated_at = '2030-02-01T00:00:00Z' where id = $1`],
}

/** Resources whose volatile fields depend on the clock or a provider, not on our tables. */
const externalOnly: Record<string, string> = {
  FlashCountdownBarSettings: 'the clock',
  ContentBlock: 'the clock',
  Contact: 'opt-outs, of which the lists know nothing',
  Onboarding: 'every section tells of itself',
  MessagingSession: 'the provider',
  OfficialConnection: 'the provider',
  Subscription: 'the provider',
  InboxTag: 'counted of conversations',
}

const shapes = new Set(
  registry.operations.flatMap(({ spec }) =>
    spec.etag && spec.answer.body && getVolatileFields(spec.answer.body).length > 0
      ? [getSchemaName(spec.answer.body) ?? spec.path]
      : [],
  ),
)

test('each resource with volatile fields has a case', () => {
  expect([...shapes].filter((name) => !(name in moving) && !(name in externalOnly))).toEqual([])
  expect(Object.keys({ ...moving, ...externalOnly }).filter((name) => !shapes.has(name))).toEqual([])
})

describe('the ETag ignores volatile fields', () => {
  test.each(Object.entries(moving))('%s', async (_name, [id, ...statements]) => {
    const operation = registry.byId(id)!
    const names = await namesOf(operation)
    const inBody = { ...names }
    const look = async () => {
      if (operation.spec.readOnly) {
        const { body, tag } = await send('GET', buildPath(operation.spec.path, names))
        return { read: body, tag }
      }
      const [reader] = getIfMatchReaders(registry.operations, operation)
      return {
        read: await readNow(operation, names, inBody),
        tag: await reader!.etag(await context(), { params: names, query: {}, body: inBody }),
      }
    }
    const before = await look()
    for (const statement of statements) {
      const changed = await app.database.query(`${statement} returning 1`, [storeId])
      expect(changed.length, statement).toBeGreaterThan(0)
    }
    const after = await look()
    expect(after.read).not.toEqual(before.read)
    expect(after.tag && toIdentityTag(after.tag)).toBe(before.tag && toIdentityTag(before.tag))
  })
})
