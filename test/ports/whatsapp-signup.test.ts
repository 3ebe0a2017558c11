import { randomUUID } from 'node:crypto'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { type OfficialSetup, SetupQuestion } from '#operations/messaging/provider/number-port'
import { webhookFields } from '#operations/messaging/provider/whatsapp/check'
import type { WhatsappOptions } from '#operations/messaging/provider/whatsapp/options'
import { WhatsappMessaging } from '#operations/messaging/provider/whatsapp/whatsapp'
import { testsBeginAt } from '#test/support/test-clock'
import { openWhatsapp, type StandInNumber } from './whatsapp-stand-in.ts'

const standIn = await openWhatsapp()
afterAll(() => standIn.close())
const callbackUrl = 'https://api.example.com/hooks/messaging/whatsapp'
const options: WhatsappOptions = {
  graphUrl: standIn.graphUrl,
  dialogUrl: 'https://www.facebook.com/v26.0/dialog/oauth',
  appId: standIn.appId,
  appSecret: standIn.appSecret,
  configId: '99',
  signupVersion: 'v4',
  callbackUrl,
  shared: null,
  assistant: null,
}
const port = new WhatsappMessaging(options)
const store = { id: randomUUID(), credentials: null as unknown }
const first = structuredClone(standIn.number)
const returnUrl = 'https://api.example.com/messaging/return'
const startedAt = testsBeginAt

beforeEach(() => {
  standIn.fail(null)
  Object.assign(standIn.number, structuredClone(first))
  standIn.otherNumbers = []
  standIn.accounts = [standIn.account]
  standIn.scopes = ['whatsapp_business_management', 'whatsapp_business_messaging']
  standIn.callbacks = { url: callbackUrl, fields: webhookFields }
  standIn.syncs = []
  standIn.registerFault = null
  standIn.requests = []
})

async function finish(setup: Partial<OfficialSetup> = {}, credentials: unknown = null) {
  const { url } = await port.startOfficialSetup(store, { state: 'a state', returnUrl })
  const code = credentials ? 'used up' : standIn.signUp(url)
  return port.finishOfficialSetup({ ...store, credentials }, { code, returnUrl, startedAt, ...setup })
}

async function question(setup: Partial<OfficialSetup> = {}, credentials: unknown = null) {
  const asked = await finish(setup, credentials).catch((error: unknown) => error)
  expect(asked).toBeInstanceOf(SetupQuestion)
  return asked as SetupQuestion
}

const another = (id: string, change: Partial<StandInNumber> = {}): StandInNumber => ({
  ...structuredClone(first),
  id,
  display_phone_number: `+55 11 4000-${id}`,
  last_onboarded_time: '2020-01-01T00:00:00+0000',
  ...change,
})

describe('the embedded signup', () => {
  test('the page is requested in the current version, and allows numbers of the app', async () => {
    const { url } = await port.startOfficialSetup(store, { state: 'a state', returnUrl })
    expect(JSON.parse(new URL(url).searchParams.get('extras')!)).toEqual({
      setup: {},
      featureType: 'whatsapp_business_app_onboarding',
      sessionInfoVersion: '3',
      version: 'v4',
    })
  })

  test('a new number gets a PIN, which is required when it connects again', async () => {
    const { credentials, numberId } = await finish()
    const kept = port.numberPin({ id: store.id, credentials })
    expect(kept).toEqual({ numberId, pin: expect.stringMatching(/^\d{6}$/) })
    // Without the PIN the merchant would lose the number.
    expect(await question()).toMatchObject({ field: 'pin', code: 'pin-needed' })
    await finish({ findPin: async (id) => (id === numberId ? kept!.pin : null) })
  })

  test('a PIN that was set elsewhere is asked for, and the code is exchanged once', async () => {
    standIn.number.pin = '424242'
    const { granted, message } = await question()
    expect(message).toContain('two-step verification')
    const wrong = await question({ answers: { pin: '111111' } }, granted)
    expect(wrong.message).toContain('not the PIN')
    const number = await finish({ answers: { pin: '424242' } }, wrong.granted)
    expect(port.numberPin({ id: store.id, credentials: number.credentials })?.pin).toBe('424242')
    expect(standIn.requests.filter((each) => each.endsWith('oauth/access_token'))).toHaveLength(1)
  })

  test.each([
    [133006, 'number-unverified'],
    [133008, 'pin-locked'],
    [133009, 'pin-locked'],
    [133015, 'number-deleted-lately'],
  ])('register refused with %i', async (code, expected) => {
    standIn.registerFault = code
    await expect(finish()).rejects.toMatchObject({ name: 'Refused', code: expected })
  })

  test('a number of the WhatsApp Business app is never registered, and has its own rate', async () => {
    Object.assign(standIn.number, { is_on_biz_app: true, platform_type: 'CLOUD_API', status: 'CONNECTED' })
    const { credentials, ready } = await finish()
    const connected = { id: store.id, credentials }
    expect(ready).toBe(true)
    expect(standIn.requests.some((each) => each.includes('register'))).toBe(false)
    expect(port.numberPin(connected)).toBeNull()
    expect(await port.phoneHealth(connected)).toMatchObject({ throughput: 20 })
    expect(await port.sendLimits(connected, 'official')).toMatchObject({ perSecond: 20 })
    await port.requestHistory(connected)
    expect(standIn.syncs).toEqual(['smb_app_state_sync', 'history'])
  })

  test('other numbers have no history to request', async () => {
    const { credentials } = await finish()
    await port.requestHistory({ id: store.id, credentials })
    expect(standIn.syncs).toEqual([])
  })

  test('among several numbers the one of this setup is chosen, wherever it is listed', async () => {
    standIn.otherNumbers = ['1001', '1002', '1003', '1004'].map((id) => another(id))
    standIn.otherNumbers[3]!.last_onboarded_time = '2026-11-20T12:00:30+0000'
    standIn.number.last_onboarded_time = '2024-01-01T00:00:00+0000'
    expect((await finish()).numberId).toBe('1004')
  })

  test('otherwise the merchant is asked, or the page reported it to the window that opened it', async () => {
    standIn.number.last_onboarded_time = '2024-01-01T00:00:00+0000'
    standIn.otherNumbers = [another('1001')]
    const { field, choices, granted } = await question()
    expect(field).toBe('numberId')
    expect(choices).toEqual([
      { value: standIn.number.id, label: '+551140001000' },
      { value: '1001', label: '+551140001001' },
    ])
    expect((await finish({ answers: { numberId: '1001' } }, granted)).numberId).toBe('1001')
    expect((await finish({ answers: { numberId: standIn.number.id } })).numberId).toBe(standIn.number.id)
  })

  test('among several accounts the one that callbacks reported as shared is chosen', async () => {
    standIn.accounts = ['999', standIn.account]
    const { accountId } = await finish({ sharedAccounts: ['555', standIn.account] })
    expect(accountId).toBe(standIn.account)
  })
})

describe('unmet preconditions of a connection', () => {
  const found = async (credentials: unknown) => {
    const findings = await port.check({ id: store.id, credentials })
    return findings.filter(({ isFine }) => !isFine).map(({ code }) => code)
  }

  test('a working connection has no unmet precondition, and nothing is changed', async () => {
    const { credentials } = await finish()
    standIn.requests = []
    expect(await found(credentials)).toEqual([])
    expect(standIn.requests.every((each) => each.startsWith('GET '))).toBe(true)
  })

  test('each unmet precondition is named, with its remedy', async () => {
    const { credentials } = await finish()
    standIn.scopes = ['whatsapp_business_management']
    standIn.isSubscribed = false
    standIn.callbacks = { url: 'https://elsewhere.example.com/', fields: ['messages'] }
    standIn.accountReview = 'PENDING'
    Object.assign(standIn.number, { status: 'BANNED', quality_rating: 'RED', name_status: 'DECLINED' })
    expect(await found(credentials)).toEqual([
      'webhook-address',
      'webhook-fields',
      'permissions',
      'subscription',
      'number',
      'quality',
      'display-name',
      'account',
    ])
    const findings = await port.check({ id: store.id, credentials })
    for (const { isFine, remedy } of findings) expect(isFine || (remedy?.length ?? 0) > 10).toBe(true)
    standIn.accountReview = 'APPROVED'
    standIn.isSubscribed = true
  })

  test('without access, or without callbacks, only that is named', async () => {
    const { credentials } = await finish()
    standIn.callbacks = null
    const lost = { ...(credentials as object), accessToken: 'EAAgone' }
    expect(await found(lost)).toEqual(['webhook-address', 'webhook-fields', 'token', 'permissions'])
    standIn.fail({ status: 400, code: 190 })
    expect(await found(credentials)).toEqual(['webhook', 'token'])
  })
})

test('a field that the API does not know (any more) does not affect others, and is requested once', async () => {
  for (const field of ['health_status', 'platform_type', 'is_on_biz_app']) standIn.numberFields.delete(field)
  const { credentials } = await finish()
  const connected = { id: store.id, credentials }
  const read = () => port.phoneHealth(connected)
  expect(await read()).toMatchObject({ messagingLimitTier: 'tier-2k', throughput: 80 })
  standIn.requests = []
  await read()
  expect(standIn.requests).toHaveLength(1)
})
