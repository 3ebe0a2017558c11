/** Parsing WhatsApp's callbacks. */
import { expect, test } from 'vitest'
import { buildHook, type StatusData } from '#operations/messaging/provider/hook-body'
import { toSendError } from '#operations/messaging/provider/whatsapp/errors'
import { WhatsappMessaging } from '#operations/messaging/provider/whatsapp/whatsapp'
import { NumberLimit, Refused } from '#runtime/ports/errors'

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

test('a later failure has the same reason as an immediate one', () => {
  const codes = Array.from({ length: 6_000 }, (_, i) => (i < 1_000 ? i + 1 : 129_000 + i))
  const later = (code: number) => {
    const change = { id: 'wamid.1', status: 'failed', timestamp: '1795262400', errors: [{ code }] }
    const { body } = buildHook(appSecret, [
      { numberId: '1', account: '2', statuses: [change], messages: [], contacts: [] },
    ])
    return (port.parseEvents(body)[0]!.data as StatusData).failureCode
  }
  const atOnce = (code: number): string | null => {
    const error = toSendError({ status: 400, code, subcode: null, message: '', retryAfterMs: null })
    if (error instanceof NumberLimit) return 'number-limit'
    return error instanceof Refused && error.code !== 'provider-error' ? error.code : null
  }
  const differ = codes.filter((code) => atOnce(code) !== null && atOnce(code) !== later(code))
  // Immediately, the phone is unknown; later it may also be switched off.
  expect(differ).toEqual([131_026])
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
