import { afterAll, expect, test } from 'vitest'
import { buildAccountHook } from '#operations/messaging/provider/hook-body'
import { SandboxMessaging } from '#operations/messaging/provider/sandbox'
import {
  buildCategoryChange,
  buildQualityChange,
  buildStatusChange,
} from '#operations/messaging/provider/template-hooks'
import { freshDatabase } from '#test/support/app'
import { frozenClock } from '#test/support/test-clock'

const { database } = await freshDatabase()
afterAll(() => database.close())
const appSecret = 'an app secret'
const port = new SandboxMessaging({ db: database.root, clock: frozenClock(), appSecret, perSecond: 500 })

test('changes of templates are parsed as separate events', () => {
  const template = { providerId: '77', name: 'greeting', language: 'pt_BR' }
  const pausedUntil = new Date('2026-11-20T15:00:00.000Z')
  const { headers, body } = buildAccountHook(appSecret, 'account', '1795176000', [
    buildStatusChange(template, 'REJECTED', { reason: 'invalid-format' }),
    buildStatusChange(template, 'PAUSED', { pausedUntil }),
    buildStatusChange(template, 'DELETED'),
    buildStatusChange(template, 'SURPRISE'),
    buildQualityChange(template, 'yellow'),
    buildCategoryChange(template, 'marketing'),
    {
      field: 'message_template_status_update',
      value: { event: 'PAUSED', message_template_id: 77, other_info: { title: 'SECOND_PAUSE' } },
    },
  ])
  expect(port.verifySignature(headers, body)).toBe(true)
  const events = port.parseEvents(body)
  const at = '2026-11-20T12:00:00.000Z'
  expect(events.map(({ kind, data, occurredAt }) => ({ kind, data, occurredAt }))).toMatchObject([
    {
      kind: 'template-status',
      occurredAt: at,
      data: { providerId: '77', status: 'rejected', rejectionReason: 'invalid-format', pausedUntil: null },
    },
    { data: { status: 'paused', rejectionReason: null, pausedUntil: pausedUntil.toISOString() } },
    { data: { status: 'gone' } },
    { kind: 'message_template_status_update' },
    { kind: 'template-quality', data: { providerId: '77', quality: 'yellow' } },
    { kind: 'template-category', data: { providerId: '77', category: 'marketing' } },
    { data: { providerId: '77', status: 'paused', pausedUntil: '2026-11-20T18:00:00.000Z' } },
  ])
  expect(new Set(events.map((event) => event.key)).size).toBe(events.length - 1)
})
