/** Parsing WhatsApp's callbacks. */
import { expect, test } from 'vitest'
import { buildHook, type StatusData } from '#operations/messaging/provider/hook-body'
import { toSendError } from '#operations/messaging/provider/whatsapp/errors'
import { WhatsappMessaging } from '#operations/messaging/provider/whatsapp/whatsapp'
import {
  AccessLost,
  NumberLimit,
  RecipientThrottled,
  type Refused,
  Throttled,
  Unavailable,
} from '#runtime/ports/errors'

const appSecret = 'an app secret'
const port = new WhatsappMessaging({
  graphUrl: 'http://127.0.0.1:9',
  dialogUrl: 'http://127.0.0.1:9',
  signupVersion: 'v4',
  callbackUrl: 'https://api.example.com/hooks/messaging/whatsapp',
  appId: '4711',
  appSecret,
  configId: '99',
  shared: null,
  assistant: null,
})

const atOnce = (code: number): string => {
  const error = toSendError({ status: 400, code, subcode: null, message: '', retryAfterMs: null })
  if (error instanceof NumberLimit) return 'number-limit'
  if (error instanceof RecipientThrottled) return 'recipient waits'
  if (error instanceof Throttled) return 'number waits'
  if (error instanceof AccessLost) return error.code
  if (error instanceof Unavailable) return 'indeterminate'
  return (error as Refused).code
}
const later = (code: number) => {
  const change = { id: 'wamid.1', status: 'failed', timestamp: '1795262400', errors: [{ code }] }
  const { body } = buildHook(appSecret, [
    { numberId: '1', account: '2', statuses: [change], messages: [], contacts: [] },
  ])
  return (port.parseEvents(body)[0]!.data as StatusData).failureCode
}

/** The rows of Meta's page of error codes that a send can end with, and what a send that ends so becomes. */
const rows: Record<string, readonly number[]> = {
  'token-expired': [0, 190],
  'permission-missing': [3, 10, 200, 299, 131005],
  'number waits': [4, 80007, 130429, 133016],
  'recipient waits': [131056],
  'number-limit': [131048, 131064],
  disconnected: [33, 368, 131031, 131037, 131042, 131045, 133010],
  indeterminate: [1, 2, 131000, 131016, 131057, 133004],
  undelivered: [130403, 130497, 131026],
  'not-on-network': [131021, 131030],
  'window-closed': [131047],
  'frequency-capped': [130472, 131049],
  'recipient-stopped': [131050],
  'media-refused': [131051, 131052, 131053],
  'template-refused': [
    131062, 131063, 132000, 132001, 132007, 132012, 132015, 132016, 132018, 132068, 132069,
  ],
  'too-long': [131001, 132005],
  'provider-error': [
    100, 131008, 131009, 131060, 133000, 133005, 133006, 133008, 133009, 133015, 134011, 135000,
  ],
}

test.each(Object.entries(rows))('%s: each code of the page', (expected, codes) => {
  expect(codes.filter((code) => atOnce(code) !== expected)).toEqual([])
})

test('a later failure has the same reason as an immediate one', () => {
  const codes = Array.from({ length: 6_000 }, (_, i) => (i < 1_000 ? i + 1 : 129_000 + i))
  const isFinal = (code: string) => !/waits|indeterminate|token|permission|provider-error/.test(code)
  expect(codes.filter((code) => isFinal(atOnce(code)) && atOnce(code) !== later(code))).toEqual([])
})

test('all statuses of a body are read, of several numbers and messages', () => {
  const change = (id: string, status: string) => ({ id, status, timestamp: '1795262400' })
  const { body } = buildHook(appSecret, [
    {
      ...{ numberId: '1', account: '2', messages: [], contacts: [] },
      statuses: [change('a', 'sent'), change('a', 'delivered'), change('b', 'read')],
    },
    {
      ...{ numberId: '7', account: '2', messages: [], contacts: [] },
      statuses: [change('c', 'failed')],
    },
  ])
  const read = port.parseEvents(body).map(({ key, storeRef }) => [storeRef, key])
  expect(read).toEqual([
    ['1', 'status:a:sent'],
    ['1', 'status:a:delivered'],
    ['1', 'status:b:read'],
    ['7', 'status:c:failed'],
  ])
})

/** The events of Meta's page of `account_update` (20 April 2026). */
const accountEvents: [event: string, about: object, issue: string | null | undefined][] = [
  ['ACCOUNT_DELETED', {}, 'number-removed'],
  ['ACCOUNT_OFFBOARDED', {}, 'number-removed'],
  ['PARTNER_REMOVED', {}, 'number-removed'],
  ['PARTNER_APP_UNINSTALLED', {}, 'token-expired'],
  ['ACCOUNT_RECONNECTED', {}, null],
  ['PARTNER_APP_INSTALLED', {}, null],
  [
    'DISABLED_UPDATE',
    { ban_info: { waba_ban_state: 'DISABLE', waba_ban_date: 'May 1' } },
    'account-restricted',
  ],
  ['DISABLED_UPDATE', { ban_info: { waba_ban_state: 'REINSTATE' } }, null],
  [
    'ACCOUNT_RESTRICTION',
    { restriction_info: [{ restriction_type: 'RESTRICTED_BIZ_INITIATED_MESSAGING' }] },
    'account-restricted',
  ],
  [
    'ACCOUNT_RESTRICTION',
    { restriction_info: [{ restriction_type: 'RESTRICTED_ADD_PHONE_NUMBER_ACTION' }] },
    undefined,
  ],
  ['AD_ACCOUNT_LINKED', {}, undefined],
  ['AUTH_INTL_PRICE_ELIGIBILITY_UPDATE', {}, undefined],
  ['BUSINESS_PRIMARY_LOCATION_COUNTRY_UPDATE', {}, undefined],
  ['MM_LITE_TERMS_SIGNED', {}, undefined],
  ['PARTNER_CLIENT_CERTIFICATION_STATUS_UPDATE', {}, undefined],
  ['VOLUME_BASED_PRICING_TIER_UPDATE', {}, undefined],
]

test('account_update warns of a violation and of a scheduled ban', () => {
  const read = (value: object) => {
    const entry = [{ id: '2', time: 1795262400, changes: [{ field: 'account_update', value }] }]
    return port.parseEvents(Buffer.from(JSON.stringify({ object: 'x', entry })))[0]
  }
  expect(read({ event: 'ACCOUNT_VIOLATION', violation_info: { violation_type: 'ADULT' } })).toMatchObject({
    kind: 'number-warning',
    data: { account: '2', warning: 'violation', detail: 'ADULT' },
  })
  const ban = { waba_ban_state: 'SCHEDULE_FOR_DISABLE', waba_ban_date: 'December 9, 2026' }
  expect(read({ event: 'DISABLED_UPDATE', ban_info: ban })).toMatchObject({
    kind: 'number-warning',
    data: { warning: 'scheduled-ban', detail: 'December 9, 2026' },
  })
  expect(read({ event: 'ACCOUNT_VIOLATION', violation_info: 7 })).toMatchObject({ data: { detail: null } })
})

test.each(accountEvents)('account_update %s %j means %s', (event, about, issue) => {
  const entry = [
    { id: '2', time: 1795262400, changes: [{ field: 'account_update', value: { event, ...about } }] },
  ]
  const [read] = port.parseEvents(Buffer.from(JSON.stringify({ object: 'x', entry })))
  expect(read).toMatchObject(
    issue === undefined ? { kind: 'account_update' } : { kind: 'number-account', data: { issue } },
  )
})

test('malformed changes do not affect the others', () => {
  const change = { id: 'wamid.9', status: 'read', timestamp: '1795262400' }
  const good = { field: 'messages', value: { metadata: { phone_number_id: '1' }, statuses: [change] } }
  for (const entry of [
    [null, { id: 2, changes: [good] }],
    [{ id: '2', changes: [null, { value: 1 }, good] }],
    [{ id: '2', changes: 'none' }, 7, { changes: [good] }],
    [{ id: null, time: {}, changes: [good] }],
    [{ id: '2', changes: [{ ...good, value: { ...good.value, statuses: [null, 5, {}, change] } }] }],
  ]) {
    const events = port.parseEvents(Buffer.from(JSON.stringify({ object: 'x', entry })))
    expect(events.filter(({ kind }) => kind === 'status')).toMatchObject([
      { data: { providerMessageId: 'wamid.9', status: 'read' } },
    ])
  }
  expect(() => port.parseEvents(Buffer.from('{"object":"x"}'))).toThrow()
})

test('errors of a number are a separate event', () => {
  const value = {
    metadata: { phone_number_id: '1' },
    errors: [{ code: 130429, title: 'Rate limit hit' }],
  }
  const text = {
    object: 'whatsapp_business_account',
    entry: [{ id: '2', changes: [{ field: 'messages', value }] }],
  }
  const events = port.parseEvents(Buffer.from(JSON.stringify(text)))
  expect(events).toMatchObject([{ kind: 'number-error', storeRef: '1', data: { value: { code: 130429 } } }])
})
