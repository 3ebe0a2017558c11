import { afterAll, expect, test } from 'vitest'
import { signedChanges } from '#operations/messaging/provider/hook-body'
import { SandboxMessaging } from '#operations/messaging/provider/sandbox'
import {
  categoryChangeOf,
  qualityChangeOf,
  statusChangeOf,
} from '#operations/messaging/provider/template-hooks'
import { freshDatabase } from '#test/support/app'
import { standingClock } from '#test/support/test-clock'

const { database } = await freshDatabase()
afterAll(() => database.close())
const appSecret = 'an app secret'
const port = new SandboxMessaging({ db: database.root, clock: standingClock(), appSecret, perSecond: 500 })

test('changes of templates are read as events of their own', () => {
  const template = { providerId: '77', name: 'greeting', language: 'pt_BR' }
  const pausedUntil = new Date('2026-11-20T15:00:00.000Z')
  const { headers, body } = signedChanges(appSecret, 'account', '1795176000', [
    statusChangeOf(template, 'REJECTED', { reason: 'invalid-format' }),
    statusChangeOf(template, 'PAUSED', { pausedUntil }),
    statusChangeOf(template, 'DELETED'),
    statusChangeOf(template, 'SURPRISE'),
    qualityChangeOf(template, 'yellow'),
    categoryChangeOf(template, 'marketing'),
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
