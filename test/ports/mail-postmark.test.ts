import { afterEach, describe, expect, test } from 'vitest'
import { parsePostmarkUrl, postmarkMail } from '#runtime/ports/mail/postmark'
import { openMail } from '#runtime/ports/mail/providers'
import { aMail, mailContract } from './mail.contract.ts'
import { type Fault, type PostmarkRecord, postmarkStandIn, type StandInWebhook } from './postmark-stand-in.ts'

const sender = 'Merchant <no-reply@merchant.example>'
const lost = (code: string) => ({
  name: 'AccessLost',
  accepted: 'no',
  code,
  remedy: expect.stringMatching(/operator/),
})
const token = 'server-t0ken'
const hookUrl = 'https://api.merchant.example/hooks/mail/postmark'
const on = { Enabled: true }
const webhook: StandInWebhook = {
  Url: 'https://postmark:hook%2Fpass@api.merchant.example/hooks/mail/postmark',
  MessageStream: 'outbound',
  Triggers: { Bounce: on, SpamComplaint: on, SubscriptionChange: on },
}

/** Postmark at the stand-in, with the contract's senders confirmed. */
async function postmark(query = '', timeoutMs = 20_000) {
  const standIn = await postmarkStandIn(token, 'merchant.example')
  standIn.senders.add('aurora.example')
  standIn.webhooks.push(webhook)
  const { host } = new URL(standIn.endpoint)
  const url = `postmark://${token}:hook%2Fpass@${host}?tls=off${query}`
  const mail = postmarkMail({ ...parsePostmarkUrl(url), hookUrl, from: sender, timeoutMs })
  return { standIn, mail, url }
}

mailContract('postmark', async () => {
  const { standIn, mail } = await postmark()
  const arrived = async (to: string) => standIn.received.filter((each) => each.to === to)
  return {
    mail,
    arrived,
    departures: async (to) => (await arrived(to)).length,
    close: standIn.close,
  }
})

describe('postmark mail', () => {
  const closing: (() => unknown)[] = []
  afterEach(async () => {
    for (const close of closing.splice(0)) await close()
  })
  const open = async (query = '', timeoutMs?: number) => {
    const opened = await postmark(query, timeoutMs)
    closing.push(opened.standIn.close)
    return opened
  }

  test('the Message-ID is ours, and opens and links are not tracked', async () => {
    const { standIn, mail } = await open()
    const { messageId } = await mail.send(aMail())
    expect(standIn.received[0]).toMatchObject({ messageId, from: sender, stream: 'outbound' })
    expect(standIn.requests).toEqual(['POST /email'])
  })

  test('MAIL_URL names the provider', async () => {
    const { standIn, url } = await open('&stream=news')
    const publicUrl = 'https://api.merchant.example'
    const opened = await openMail({
      ...{ url, from: sender, publicUrl, database: null as never, clock: null as never },
    })
    await opened.mail.send(aMail())
    expect(standIn.received[0]?.stream).toBe('news')
    await opened.close()
    for (const bad of ['postmark://', 'postmark://api.postmarkapp.com', 'https://s3cr3t@x'])
      expect(() => parsePostmarkUrl(bad)).toThrow('MAIL_URL: must be postmark://')
  })

  test.each<[Fault, object]>([
    [{ status: 429 }, { name: 'Throttled', retryAfterMs: 2000 }],
    [
      { status: 429, ErrorCode: 429, headers: { 'retry-after': '7' } },
      { name: 'Throttled', retryAfterMs: 7000 },
    ],
    [
      { status: 401, ErrorCode: 10 },
      { name: 'AccessLost', code: 'mail-login-refused' },
    ],
    [
      { status: 422, ErrorCode: 401 },
      { name: 'AccessLost', code: 'mail-sender-unknown' },
    ],
    [
      { status: 422, ErrorCode: 405 },
      { name: 'AccessLost', code: 'mail-account-closed' },
    ],
    [
      { status: 422, ErrorCode: 412 },
      { name: 'AccessLost', code: 'mail-account-closed' },
    ],
    [
      { status: 422, ErrorCode: 411 },
      { name: 'Refused', code: 'message-refused' },
    ],
    [{ status: 413 }, { name: 'Refused', code: 'message-refused' }],
    [{ status: 503 }, { name: 'Unavailable', accepted: 'no' }],
    [{ status: 500 }, { name: 'Unavailable', accepted: 'unknown' }],
    ['drop', { name: 'Unavailable', accepted: 'unknown' }],
    ['silence', { name: 'Unavailable', accepted: 'unknown' }],
  ])('an answer %j', async (fault, expected) => {
    const { standIn, mail } = await open('', fault === 'silence' ? 300 : undefined)
    standIn.faults.push(fault)
    const error = await mail.send(aMail()).catch((caught: unknown) => caught)
    expect(error).toMatchObject(expected)
    expect(`${(error as Error).message} ${(error as Error).cause}`).not.toContain(token)
    // It does not block the next one.
    await mail.send(aMail())
  })

  test('an unavailable service is Unavailable, and nothing was sent', async () => {
    const { standIn, mail } = await open()
    await standIn.close()
    closing.splice(0)
    await expect(mail.send(aMail())).rejects.toMatchObject({ name: 'Unavailable', accepted: 'no' })
  })

  test("a refused address is the recipient's error, a refused sender of the message that message's", async () => {
    const { standIn, mail } = await open()
    await expect(mail.send(aMail({ to: 'ana@nowhere.invalid' }))).rejects.toMatchObject({
      name: 'Refused',
      code: 'recipient-refused',
    })
    await expect(mail.send(aMail({ from: 'Shop <a@elsewhere.example>' }))).rejects.toMatchObject({
      name: 'Refused',
      code: 'message-refused',
    })
    standIn.senders.clear()
    await expect(mail.send(aMail())).rejects.toMatchObject(lost('mail-sender-unknown'))
  })

  test("a stream that is missing, or only receives, is the operator's error", async () => {
    for (const stream of ['none', 'old', 'inbound']) {
      const { mail } = await open(`&stream=${stream}`)
      await expect(mail.send(aMail())).rejects.toMatchObject(lost('mail-stream-unknown'))
      expect((await mail.check()).filter(({ isFine }) => !isFine)).toMatchObject([{ code: 'stream' }])
    }
  })

  test('a check names what is wrong, and sends nothing', async () => {
    const { standIn, mail } = await open()
    standIn.deliveryType = 'Sandbox'
    const faults = async () => (await mail.check()).filter(({ isFine }) => !isFine)
    expect(await faults()).toMatchObject([{ code: 'delivery', remedy: expect.any(String) }])
    standIn.faults.push({ status: 401, ErrorCode: 10 })
    expect(await faults()).toMatchObject([{ code: 'mail-login-refused', remedy: expect.any(String) }])
    expect(standIn.requests.every((request) => request.startsWith('GET '))).toBe(true)
  })

  test('a check names what the webhooks lack', async () => {
    const { standIn, mail, url } = await open()
    const faults = async (checked = mail) => (await checked.check()).filter(({ isFine }) => !isFine)
    expect(await faults()).toEqual([])
    const expectFault = async (message: RegExp, checked = mail) =>
      expect(await faults(checked)).toMatchObject([
        {
          code: 'webhook',
          message: expect.stringMatching(message),
          remedy: expect.stringContaining(
            'https://postmark:WEBHOOK_PASSWORD@api.merchant.example/hooks/mail/',
          ),
        },
      ])
    standIn.webhooks[0] = { ...webhook, Triggers: { Bounce: on, SpamComplaint: { Enabled: false } } }
    await expectFault(/SpamComplaint, SubscriptionChange/)
    standIn.webhooks[0] = { ...webhook, Url: 'https://elsewhere.example/hooks/mail/postmark' }
    await expectFault(/no webhook of this server/)
    const without = url.replace(':hook%2Fpass', '')
    await expectFault(/no password/, postmarkMail({ ...parsePostmarkUrl(without), hookUrl, from: sender }))
  })

  test('a store’s mail carries the store and the key, within what Postmark takes', async () => {
    const { standIn, mail } = await open()
    await mail.send(aMail({ storeId: 'a-store', idempotencyKey: 'rv_1_1' }))
    expect(standIn.received[0]?.metadata).toEqual({ store: 'a-store', key: 'rv_1_1' })
    await mail.send(aMail({ storeId: 'a-store', idempotencyKey: 'k'.repeat(81) }))
    expect(standIn.received[0]?.metadata).toEqual({ store: 'a-store' })
    await mail.send(aMail())
    expect(standIn.received[0]?.metadata).toEqual({})
  })

  test.each<[PostmarkRecord, object, string | null]>([
    ['Bounce', {}, 'bounced'],
    ['Bounce', { Type: 'BadEmailAddress', TypeCode: 100000 }, 'bounced'],
    ['Bounce', { Type: 'SpamComplaint', TypeCode: 100001 }, 'complained'],
    ['Bounce', { Type: 'SoftBounce', TypeCode: 4096, Inactive: false }, null],
    ['Bounce', { Type: 'Transient', TypeCode: 2, Inactive: false }, null],
    ['Bounce', { Type: 'AutoResponder', TypeCode: 64, Inactive: false }, null],
    ['SpamComplaint', {}, 'complained'],
    ['SubscriptionChange', {}, 'bounced'],
    ['SubscriptionChange', { SuppressionReason: 'SpamComplaint' }, 'complained'],
    ['SubscriptionChange', { SuppressionReason: 'ManualSuppression' }, 'complained'],
    ['SubscriptionChange', { SuppressSending: false, MessageID: null, Metadata: {} }, 'restored'],
    ['Bounce', { RecordType: 'Open' }, null],
    ['Bounce', { Email: null }, null],
  ])('a webhook %s with %j means %s', async (record, change, kind) => {
    const { standIn, mail } = await open()
    const { to } = aMail()
    await mail.send(aMail({ to, storeId: 'a-store', idempotencyKey: 'rv_1_1' }))
    const { headers, body } = standIn.report(record, to, change)
    const read = mail.parseWebhook!(new Headers(headers), new TextEncoder().encode(body as string))
    expect(read).toMatchObject(kind === null ? [] : [{ kind, data: { email: to } }])
    if (kind && kind !== 'restored') expect(read[0]).toMatchObject({ storeRef: 'a-store' })
  })

  test('a webhook without the password, or that is no report, is refused', async () => {
    const { standIn, mail } = await open()
    const { headers, body } = standIn.report('Bounce', 'ana@example.com')
    const refuse = (change: Record<string, string>, text = body as string) => {
      const given = new Headers({ ...(headers as Record<string, string>), ...change })
      return () => mail.parseWebhook!(given, new TextEncoder().encode(text))
    }
    for (const authorization of [
      '',
      'Basic',
      `Basic ${btoa('postmark:wrong')}`,
      `Basic ${btoa('hook/pass')}`,
    ])
      expect(refuse({ authorization })).toThrow(expect.objectContaining({ code: 'bad-signature' }))
    for (const text of ['', '[]', '{}', '{"RecordType":1}', '\ud800'])
      expect(refuse({}, text)).toThrow(expect.objectContaining({ code: 'bad-body' }))
    const bare = postmarkMail({ ...parsePostmarkUrl(`postmark://${token}@localhost`), from: sender })
    expect(bare.parseWebhook).toBeUndefined()
  })
})
