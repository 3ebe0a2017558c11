import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Mail, MailPort } from '#runtime/ports/mail/port'

/** A received mail; header names in lower case. */
export interface ArrivedMail {
  to: string
  from: string | null
  replyTo: string | null
  subject: string
  html: string
  text: string
  headers: Record<string, string>
  attachments: { fileName: string; contentType: string; content: Uint8Array }[]
}

export interface MailSetting {
  mail: MailPort
  /** Mails received by an address, newest first. */
  arrived(to: string): Promise<ArrivedMail[]>
  /** How often the key was sent: the sandbox counts calls, a server receives each mail. */
  departures(to: string): Promise<number>
  close(): Promise<void>
}

let counter = 0
/** A mail to a unique address, which isolates the tests. */
export function aMail(change: Partial<Mail> = {}): Mail {
  counter += 1
  return {
    to: `person${counter}@example.com`,
    subject: 'Your order',
    html: '<p>It left today.</p>',
    text: 'It left today.',
    idempotencyKey: `key_${counter}`,
    ...change,
  }
}

const plain = ({ fileName, contentType, content }: ArrivedMail['attachments'][number]) => ({
  fileName,
  contentType,
  content: [...content],
})

/** The contract of every mail adapter. The other side refuses `+bounce` and is unavailable for `+down`. */
export function mailContract(name: string, open: () => Promise<MailSetting>): void {
  describe(`mail port: ${name}`, () => {
    let setting: MailSetting
    beforeAll(async () => {
      setting = await open()
    })
    afterAll(() => setting.close())

    test('all fields arrive', async () => {
      const every = new Uint8Array(256).map((_, index) => index)
      const mail = aMail({
        from: 'Aurora Supply <shop@aurora.example>',
        replyTo: 'help@aurora.example',
        subject: 'Olá — sua resenha ★',
        html: '<p>Olá, <b>José</b> &amp; Ção</p>',
        text: 'Olá, José & Ção\n.\numa linha que começa com ponto',
        headers: { 'List-Unsubscribe': '<https://aurora.example/u/1>', 'X-Store': 'aurora' },
        attachments: [
          {
            fileName: 'relatório "1".csv',
            contentType: 'text/csv',
            content: new TextEncoder().encode('a;b\r\nç;1'),
          },
          { fileName: 'bytes.dat', contentType: 'application/octet-stream', content: every },
        ],
      })
      const { messageId } = await setting.mail.send(mail)
      expect(messageId).toMatch(/^<[^<>@\s]+@[^<>@\s]+>$/)

      const [arrived, ...rest] = await setting.arrived(mail.to)
      expect(rest).toEqual([])
      expect(arrived).toMatchObject({
        to: mail.to,
        from: mail.from,
        replyTo: mail.replyTo,
        subject: mail.subject,
        html: mail.html,
        text: mail.text,
      })
      expect(arrived?.headers).toMatchObject({
        'list-unsubscribe': '<https://aurora.example/u/1>',
        'x-store': 'aurora',
      })
      expect(arrived?.attachments.map(plain)).toEqual(mail.attachments?.map(plain))
    })

    test('a slice of a larger buffer is sent as that slice', async () => {
      const content = new TextEncoder().encode('before|inside|after').subarray(7, 13)
      const mail = aMail({ attachments: [{ fileName: 'a.txt', contentType: 'text/plain', content }] })
      await setting.mail.send(mail)
      const [arrived] = await setting.arrived(mail.to)
      expect(new TextDecoder().decode(arrived?.attachments[0]?.content)).toBe('inside')
    })

    test('one key is one message id, another key another', async () => {
      const mail = aMail()
      const [first, second] = await Promise.all([setting.mail.send(mail), setting.mail.send(mail)])
      expect(second.messageId).toBe(first.messageId)
      expect(await setting.departures(mail.to)).toBe(2)
      const other = await setting.mail.send({ ...mail, idempotencyKey: `${mail.idempotencyKey}_other` })
      expect(other.messageId).not.toBe(first.messageId)
    })

    test.each([
      ['a list', 'a@example.com, b@example.com'],
      ['a name', 'Ana <a@example.com>'],
      ['a header', 'a@example.com\r\nBcc: b@example.com'],
      ['no address', 'nobody'],
      ['nothing', ''],
    ])('%s in `to` is refused', async (_, to) => {
      await expect(setting.mail.send(aMail({ to }))).rejects.toMatchObject({
        name: 'Refused',
        code: 'invalid-recipient',
      })
    })

    test('a line break in a subject, name or header adds no header', async () => {
      const mail = aMail({
        subject: 'Hello\r\nX-Injected: subject',
        from: 'Shop\r\nX-Injected: from <shop@aurora.example>',
        headers: { 'X-Store': 'aurora\r\nX-Injected: header' },
        attachments: [
          { fileName: 'a\r\nX-Injected: file', contentType: 'text/plain', content: new Uint8Array([65]) },
        ],
      })
      await setting.mail.send(mail)
      const [arrived] = await setting.arrived(mail.to)
      expect(Object.keys(arrived?.headers ?? {})).not.toContain('x-injected')
    })

    test('an address that the other side refuses is Refused', async () => {
      const mail = aMail({ to: 'nobody+bounce@example.com' })
      await expect(setting.mail.send(mail)).rejects.toMatchObject({
        name: 'Refused',
        code: 'recipient-refused',
      })
      expect(await setting.arrived(mail.to)).toEqual([])
    })

    test('an address whose server fails is Unavailable, and safe to retry', async () => {
      const mail = aMail({ to: 'somebody+down@example.com' })
      await expect(setting.mail.send(mail)).rejects.toMatchObject({ name: 'Unavailable', accepted: 'no' })
      expect(await setting.arrived(mail.to)).toEqual([])
    })

    test('a check of a working server finds nothing, and sends nothing', async () => {
      const findings = await setting.mail.check()
      expect(findings.length).toBeGreaterThan(0)
      for (const { code, message } of findings) {
        expect(code).toMatch(/^[a-z]+(-[a-z]+)*$/)
        expect(message).not.toBe('')
      }
      expect(findings.filter(({ isFine }) => !isFine)).toEqual([])
    })

    test('many parallel mails are all sent', async () => {
      const mails = Array.from({ length: 30 }, () => aMail())
      await Promise.all(mails.map((mail) => setting.mail.send(mail)))
      for (const mail of mails) expect(await setting.arrived(mail.to)).toHaveLength(1)
    })
  })
}
