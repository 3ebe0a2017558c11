import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type NumberChanges,
  type SignedHook,
  signatureHeader,
} from '#operations/messaging/provider/hook-body'
import type { MessagingPort } from '#operations/messaging/provider/port'
import type { ProviderTemplate, TemplateContent } from '#operations/messaging/provider/template-port'
import type { ProviderStore } from '#runtime/ports/provider'

/** The behaviour of the provider behind the adapter. */
type ProviderMode = 'up' | 'down' | 'timeout' | 'throttle'

export interface MessagingSetting {
  port: MessagingPort
  store: ProviderStore
  /** The messages received by a phone, with how often each key was sent. */
  arrived(phone: string): Promise<{ key: string; calls: number; content: Record<string, unknown> }[]>
  setMode(mode: ProviderMode): Promise<void>
  /** Completes the setup behind this address; answers the returned code. */
  goThroughSetup(url: string): Promise<string>
  /** Ends the store's access without notice. */
  breakAccess(): Promise<void>
  /** The media id of a received picture. */
  mediaId: string
  /** A callback signed by the provider. */
  signed(changes: NumberChanges[]): SignedHook
  close(): Promise<void>
}

let counter = 0
/** A message with a unique key, to a phone with this ending. */
export function aMessage(ending = '7777') {
  counter += 1
  return {
    phone: `+55119${String(1000 + counter).padStart(4, '0')}${ending}`,
    via: 'official' as const,
    idempotencyKey: `cm_${crypto.randomUUID()}_1`,
  }
}

/** The contract of every messaging adapter. A phone that ends in 0001 is not on the network. */
export function messagingContract(name: string, open: () => Promise<MessagingSetting>): void {
  describe(`messaging port: ${name}`, () => {
    let setting: MessagingSetting
    beforeAll(async () => {
      setting = await open()
    })
    afterAll(() => setting.close())

    test('text, media and templates are sent, each under its own id', async () => {
      const { port, store, arrived } = setting
      const text = aMessage()
      const media = aMessage()
      const template = aMessage()
      const ids = [
        await port.sendText(store, { ...text, text: 'Olá 👋\n"quoted"' }),
        await port.sendMedia(store, {
          ...media,
          media: { type: 'image', url: 'https://cdn.example.com/a.png', fileName: null },
          text: 'A caption',
        }),
        await port.sendTemplate(store, {
          ...template,
          template: { name: 'order_shipped', language: 'pt_BR' },
          parameters: { header: [], body: ['Ana', '1001'], buttons: [] },
          headerMediaUrl: null,
          layout: { headerMediaType: null, dynamicButtons: [] },
        }),
      ].map((each) => each.providerMessageId)
      expect(new Set(ids).size).toBe(3)
      for (const id of ids) expect(id).toMatch(/\S{8,}/)
      expect(await arrived(text.phone)).toMatchObject([{ content: { text: 'Olá 👋\n"quoted"' } }])
      expect(await arrived(media.phone)).toMatchObject([
        { content: { text: 'A caption', media: { url: 'https://cdn.example.com/a.png' } } },
      ])
      expect(await arrived(template.phone)).toMatchObject([
        { content: { template: { name: 'order_shipped' }, parameters: { body: ['Ana', '1001'] } } },
      ])
    })

    test('one key is one message, even if sent repeatedly or in parallel', async () => {
      const { port, store, arrived } = setting
      if (!port.capabilities.idempotentSend) return
      const message = { ...aMessage(), text: 'Once' }
      const first = await port.sendText(store, message)
      const again = await Promise.all([1, 2, 3].map(() => port.sendText(store, message)))
      for (const each of again) expect(each).toEqual(first)
      expect(await arrived(message.phone)).toMatchObject([{ key: message.idempotencyKey, calls: 4 }])
    })

    test('a phone that is not on the network is refused, and nothing is sent', async () => {
      const { port, store, arrived } = setting
      const message = { ...aMessage('0001'), text: 'Hello' }
      for (const _attempt of [1, 2]) {
        await expect(port.sendText(store, message)).rejects.toMatchObject({
          name: 'Refused',
          // WhatsApp does not tell an unknown phone from another reason.
          code: expect.stringMatching(/^(not-on-network|undelivered)$/),
        })
      }
      expect(await arrived(message.phone)).toEqual([])
    })

    test('an unavailable provider accepted nothing; a throttling one says for how long', async () => {
      const { port, store, arrived, setMode } = setting
      const message = { ...aMessage(), text: 'Hello' }
      await setMode('down')
      await expect(port.sendText(store, message)).rejects.toMatchObject({
        name: 'Unavailable',
        accepted: 'no',
      })
      await setMode('throttle')
      const throttled = await port.sendText(store, message).catch((error: unknown) => error)
      expect(throttled).toMatchObject({ name: 'Throttled' })
      expect((throttled as { retryAfterMs: number }).retryAfterMs).toBeGreaterThan(0)
      expect(await arrived(message.phone)).toEqual([])
      await setMode('up')
      await port.sendText(store, message)
      expect(await arrived(message.phone)).toHaveLength(1)
    })

    test('a template whose answer is lost was accepted all the same', async () => {
      const { port, store, setMode } = setting
      const template: TemplateContent = {
        ...{ name: 'contract_lost', language: 'pt_BR', category: 'utility', header: null },
        ...{ body: 'Oi, o pedido saiu hoje.', footer: null, buttons: [] },
        examples: { header: [], body: [], buttons: [] },
      }
      await setMode('down')
      await expect(port.createTemplate(store, template)).rejects.toMatchObject({ accepted: 'no' })
      await setMode('timeout')
      await expect(port.createTemplate(store, template)).rejects.toMatchObject({ accepted: 'unknown' })
      await setMode('up')
      await expect(port.createTemplate(store, template)).rejects.toMatchObject({ code: 'template-exists' })
      const found = (await port.listTemplates(store)).templates.find(({ name }) => name === template.name)!
      await port.deleteTemplate(store, { name: template.name, providerId: found.providerId })
    })

    test('a lost answer is unknown', async () => {
      const { port, store, arrived, setMode } = setting
      const message = { ...aMessage(), text: 'Hello' }
      await setMode('timeout')
      await expect(port.sendText(store, message)).rejects.toMatchObject({
        name: 'Unavailable',
        accepted: 'unknown',
      })
      await setMode('up')
      if (!port.capabilities.idempotentSend) return
      await port.sendText(store, message)
      expect(await arrived(message.phone)).toHaveLength(1)
    })

    test('templates are submitted, listed page by page, changed and deleted', async () => {
      const { port, store } = setting
      const template = (name: string, change: Partial<TemplateContent> = {}): TemplateContent => ({
        name,
        language: 'pt_BR',
        category: 'utility',
        header: { type: 'text', text: 'Pedido {{1}}', mediaUrl: null },
        body: 'Oi {{1}}, o pedido {{2}} saiu hoje.',
        footer: 'Loja',
        buttons: [
          { type: 'quick-reply', text: 'Obrigado', url: null, phone: null },
          { type: 'url', text: 'Acompanhar', url: 'https://loja.example/t/{{1}}', phone: null },
          { type: 'phone', text: 'Ligar', url: null, phone: '+551140001000' },
        ],
        examples: { header: ['1001'], body: ['Ana', '1001'], buttons: ['BR1'] },
        ...change,
      })
      const names = ['contract_a', 'contract_b', 'contract_c']
      const ids: string[] = []
      for (const name of names) {
        const { providerId, status } = await port.createTemplate(store, template(name))
        expect(status).toBe('pending')
        ids.push(providerId)
      }
      await expect(port.createTemplate(store, template('contract_a'))).rejects.toMatchObject({
        name: 'Refused',
        code: 'template-exists',
      })
      // Another language is another template, and deleting removes only one of them.
      await port.createTemplate(store, template('contract_a', { language: 'en_US' }))
      const all = async () => {
        const found: ProviderTemplate[] = []
        let cursor: string | undefined
        do {
          const page = await port.listTemplates(store, cursor)
          found.push(...page.templates)
          cursor = page.next ?? undefined
        } while (cursor)
        return found
      }
      const listed = await all()
      expect(listed.map((each) => each.name).sort()).toEqual(['contract_a', ...names])
      expect(listed.find((each) => each.providerId === ids[0])).toMatchObject(template('contract_a'))

      const changed = template('contract_a', { body: 'Outro {{1}} texto {{2}} aqui.' })
      expect(await port.editTemplate(store, ids[0]!, changed)).toEqual({ status: 'pending' })
      expect((await all()).find((each) => each.providerId === ids[0])?.body).toBe(changed.body)
      const gone = { name: 'contract_a', providerId: ids[0]! }
      await port.deleteTemplate(store, gone)
      await port.deleteTemplate(store, gone)
      expect((await all()).map((each) => each.name).sort()).toEqual(names)
      await expect(port.editTemplate(store, ids[0]!, changed)).rejects.toMatchObject({ name: 'Refused' })
    })

    test('a number is set up, reports its state, and its lost access', async () => {
      const { port, store, goThroughSetup, breakAccess, setMode } = setting
      const returnUrl = 'https://api.example.com/messaging/return'
      const { url } = await port.startOfficialSetup(store, { state: 'a state', returnUrl })
      const code = await goThroughSetup(url)
      await expect(port.finishOfficialSetup(store, { code: 'wrong', returnUrl })).rejects.toMatchObject({
        name: 'Refused',
        code: 'code-refused',
      })
      const number = await port.finishOfficialSetup(store, { code, returnUrl })
      expect(number).toMatchObject({ phone: '+551140001000', displayName: 'Loja', ready: true })
      for (const id of [number.numberId, number.accountId]) expect(id).toMatch(/\S+/)
      const connected = { id: store.id, credentials: number.credentials }
      expect(await port.officialState(connected)).toEqual({
        status: 'connected',
        issue: null,
        phone: '+551140001000',
        displayName: 'Loja',
        displayNameStatus: 'approved',
      })
      const health = await port.phoneHealth(connected)
      expect(health).toMatchObject({
        qualityRating: 'green',
        numberStatus: 'connected',
        messagingLimitTier: 'tier-2k',
      })
      expect(health.throughput).toBeGreaterThan(0)
      expect((await port.sendLimits(connected, 'official')).perSecond).toBeGreaterThan(0)

      await setMode('down')
      await expect(port.officialState(connected)).rejects.toMatchObject({ name: 'Unavailable' })
      await setMode('up')
      await breakAccess()
      expect(await port.officialState(connected)).toMatchObject({ status: 'error', issue: 'token-expired' })
      await expect(port.phoneHealth(connected)).rejects.toMatchObject({ accepted: 'no' })
      await expect(port.sendText(connected, { ...aMessage(), text: 'Hello' })).rejects.toMatchObject({
        code: expect.stringMatching(/^(disconnected|token-expired)$/),
      })
      await port.releaseOfficial(connected)
      await setMode('up')
    })

    test('a person without a phone is addressed by their id', async () => {
      const { port, store, arrived } = setting
      const phone = 'BR.13491208655302741918'
      const { idempotencyKey } = aMessage()
      await port.sendText(store, { phone, via: 'official', idempotencyKey, text: 'Olá' })
      expect(await arrived(phone)).toMatchObject([{ key: idempotencyKey, content: { text: 'Olá' } }])
    })

    test('the shared number is joined and left', async () => {
      const { port, store } = setting
      const joined = await port.joinShared(store)
      expect(joined.phone).toMatch(/^\+\d{8,15}$/)
      expect(joined.numberId).toMatch(/\S+/)
      await port.leaveShared(store)
      await port.leaveShared(store)
    })

    test('receipts are sent, files fetched, and a missing history is reported', async () => {
      const { port, store, mediaId } = setting
      await port.markRead(store, { providerMessageId: 'wamid.1' })
      const file = await port.fetchMedia(store, { mediaId })
      const chunks: Uint8Array[] = []
      for await (const chunk of file.stream) chunks.push(chunk as Uint8Array)
      const bytes = Buffer.concat(chunks)
      expect(bytes.byteLength).toBe(file.size)
      expect(file.contentType).toBe('image/png')
      expect(bytes.subarray(1, 4).toString('latin1')).toBe('PNG')
      await expect(port.fetchMedia(store, { mediaId: 'nothing' })).rejects.toMatchObject({
        name: 'Refused',
        code: 'media-gone',
      })
      const history = await port.history(store, { since: new Date(0) })
      if (!history.supported) expect(history).toEqual({ supported: false, events: [], next: null })
    })

    test('the number has a rate', async () => {
      const { port, store } = setting
      expect((await port.sendLimits(store, 'qr')).perSecond).toBeGreaterThan(0)
    })

    test('a signature is valid only for its body', () => {
      const { port, signed } = setting
      const { headers, body } = signed([])
      expect(port.verifySignature(headers, body)).toBe(true)
      expect(port.verifySignature(headers, Buffer.concat([body, Buffer.from(' ')]))).toBe(false)
      expect(port.verifySignature(new Headers(), body)).toBe(false)
      for (const wrong of ['', 'sha256=', 'sha256=zz', `sha256=${'0'.repeat(64)}`]) {
        expect(port.verifySignature(new Headers({ [signatureHeader]: wrong }), body)).toBe(false)
      }
      const upper = headers.get(signatureHeader)!.slice(0, -1)
      expect(port.verifySignature(new Headers({ [signatureHeader]: upper }), body)).toBe(false)
    })

    test('a body of several numbers is parsed change by change', () => {
      const { port, signed } = setting
      const { body } = signed([
        {
          numberId: 'n-1',
          account: 'a-1',
          statuses: [
            { id: 'm-1', status: 'delivered', timestamp: '1795176000', biz_opaque_callback_data: 'cm_x_1' },
            { id: 'm-2', status: 'failed', timestamp: '1795176001', errors: [{ code: 131026 }] },
            { id: 'm-3', status: 'failed', timestamp: '1795176001', errors: [{ code: 7, title: 'Odd' }] },
          ],
          messages: [],
          contacts: [],
        },
        {
          numberId: 'n-2',
          account: 'a-2',
          statuses: [],
          messages: [
            {
              id: 'i-1',
              from: '5511988887777',
              timestamp: '1795176002',
              type: 'text',
              text: { body: 'STOP' },
            },
            {
              id: 'i-2',
              from: '5511988887777',
              timestamp: '1795176003',
              type: 'reaction',
              reaction: { emoji: '👍' },
            },
          ],
          contacts: [{ wa_id: '5511988887777', profile: { name: 'Ana' } }],
        },
      ])
      expect(port.parseEvents(body)).toMatchObject([
        {
          key: 'status:m-1:delivered',
          kind: 'status',
          storeRef: 'n-1',
          occurredAt: '2026-11-20T12:00:00.000Z',
          data: { providerMessageId: 'm-1', key: 'cm_x_1', status: 'delivered', failureCode: null },
        },
        { key: 'status:m-2:failed', data: { key: null, status: 'failed', failureCode: 'undelivered' } },
        { data: { failureCode: 'provider-error', failureMessage: 'Odd' } },
        {
          key: 'inbound:i-1',
          kind: 'inbound',
          storeRef: 'n-2',
          data: { phone: '+5511988887777', name: 'Ana', type: 'text', text: 'STOP' },
        },
        { key: 'inbound:i-2', data: { type: 'reaction', text: null } },
      ])
    })

    test('an unknown change is an event of its own and does not affect others', () => {
      const { port } = setting
      const body = (value: unknown) =>
        Buffer.from(
          JSON.stringify({ entry: [{ id: 'a', time: 1795176000, changes: [{ field: 'surprise', value }] }] }),
        )
      const [event, ...rest] = port.parseEvents(body({ a: 1 }))
      expect(rest).toEqual([])
      expect(event).toMatchObject({ kind: 'surprise', storeRef: null })
      expect(port.parseEvents(body({ a: 1 }))[0]!.key).toBe(event!.key)
      expect(port.parseEvents(body({ a: 2 }))[0]!.key).not.toBe(event!.key)

      const { body: mixed } = setting.signed([
        {
          numberId: 'n-1',
          account: 'a-1',
          statuses: [
            { id: 'm-1', status: 'warned' },
            { id: 'm-2', status: 'read', timestamp: 1795176000 },
          ],
          messages: [{ from: 'nobody' }],
          contacts: [],
        },
      ])
      expect(port.parseEvents(mixed).map((each) => each.kind)).toEqual([
        'status-unknown',
        'status',
        'inbound-unknown',
      ])
    })

    test('a malformed body throws', () => {
      const { port } = setting
      for (const text of ['', 'null', '[]', '{}', '{"entry":1}']) {
        expect(() => port.parseEvents(Buffer.from(text))).toThrow()
      }
    })

    test('many parallel messages are all sent', async () => {
      const { port, store, arrived } = setting
      const messages = Array.from({ length: 50 }, () => ({ ...aMessage(), text: 'Hello' }))
      await Promise.all(messages.map((message) => port.sendText(store, message)))
      for (const message of messages) expect(await arrived(message.phone)).toHaveLength(1)
    })
  })
}
