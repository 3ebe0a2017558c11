import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { PGlite } from '@electric-sql/pglite'
import { dataDir } from '@electric-sql/pglite-prepopulatedfs'
import { Kysely, PGliteDialect } from 'kysely'
import PostalMime from 'postal-mime'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { afterEach, describe, expect, test } from 'vitest'
import { up } from '#db/migrations/0002-sandbox-mail'
import { listSandboxMail, type SandboxMailTables, sandboxMail } from '#runtime/ports/mail/sandbox'
import { requiresTls, smtpMail } from '#runtime/ports/mail/smtp'
import { type ArrivedMail, aMail, mailContract } from './mail.contract.ts'

const lowerKeys = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

async function outbox() {
  const pglite = await PGlite.create('memory://', { loadDataDir: await dataDir() })
  const db = new Kysely<SandboxMailTables>({ dialect: new PGliteDialect({ pglite }) })
  await up(db)
  return db
}

mailContract('sandbox', async () => {
  const db = await outbox()
  const listed = (to: string) => listSandboxMail(db, { to })
  return {
    mail: sandboxMail({ db, clock: { now: () => new Date('2026-11-20T12:00:00.000Z') } }),
    async arrived(to) {
      return (await listed(to)).map((mail) => ({ ...mail, headers: lowerKeys(mail.headers) }))
    },
    departures: async (to) => (await listed(to)).reduce((sum, mail) => sum + mail.calls, 0),
    close: () => db.destroy(),
  }
})

describe('sandbox mail', () => {
  test('lists newest first, by address ignoring case, by store, at most `limit`', async () => {
    const db = await outbox()
    const clock = { now: () => new Date('2026-11-20T12:00:00.000Z') }
    const storeId = '0190163d-8694-739b-aea5-966c26f8ad91'
    const shop = sandboxMail({ db, clock, storeId })
    const server = sandboxMail({ db, clock })
    await shop.send(aMail({ to: 'Ana@Example.com', subject: 'first' }))
    await shop.send(aMail({ to: 'ana@example.com', subject: 'second' }))
    await server.send(aMail({ to: 'rui@example.com', subject: 'third' }))
    const subjects = async (query?: Parameters<typeof listSandboxMail>[1]) =>
      (await listSandboxMail(db, query)).map((mail) => mail.subject)
    expect(await subjects()).toEqual(['third', 'second', 'first'])
    expect(await subjects({ to: ' ANA@example.com' })).toEqual(['second', 'first'])
    expect(await subjects({ storeId })).toEqual(['second', 'first'])
    expect(await subjects({ limit: 1 })).toEqual(['third'])
    await db.destroy()
  })

  test('a second send of one key only counts: the first content and time stay', async () => {
    const db = await outbox()
    let now = new Date('2026-11-20T12:00:00.000Z')
    const port = sandboxMail({ db, clock: { now: () => now } })
    const content = new TextEncoder().encode('one')
    const mail = aMail({ attachments: [{ fileName: 'a.txt', contentType: 'text/plain', content }] })
    await port.send(mail)
    now = new Date('2026-11-21T12:00:00.000Z')
    const other = new TextEncoder().encode('another')
    const attachments = [{ fileName: 'b.txt', contentType: 'text/plain', content: other }]
    await port.send({ ...mail, subject: 'changed', attachments })
    const [stored, ...rest] = await listSandboxMail(db)
    expect(rest).toEqual([])
    expect(stored).toMatchObject({ subject: mail.subject, calls: 2, idempotencyKey: mail.idempotencyKey })
    expect(stored?.sentAt).toEqual(new Date('2026-11-20T12:00:00.000Z'))
    expect(stored?.attachments).toEqual([{ ...mail.attachments?.[0], size: 3 }])
    await db.destroy()
  })
})

type Received = ArrivedMail & { messageId: string | undefined }

/** A real SMTP server that stores mails, refuses `+bounce` permanently and `+down` temporarily. */
async function smtpServer(change: SMTPServerOptions = {}) {
  const received: Received[] = []
  const connections: string[] = []
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS', 'AUTH'],
    closeTimeout: 100,
    onConnect(session, done) {
      connections.push(session.id)
      done()
    },
    onRcptTo({ address }, _session, done) {
      if (address.includes('+bounce')) return done(reply(550, 'No such user'))
      if (address.includes('+down')) return done(reply(451, 'Try later'))
      done()
    },
    async onData(stream, session, done) {
      const chunks: Buffer[] = []
      for await (const chunk of stream) chunks.push(chunk as Buffer)
      const parsed = await PostalMime.parse(Buffer.concat(chunks))
      received.unshift({
        messageId: parsed.messageId,
        to: session.envelope.rcptTo.map((each) => each.address).join(),
        from: parsed.from?.name
          ? `${parsed.from.name} <${parsed.from.address}>`
          : (parsed.from?.address ?? null),
        replyTo: parsed.replyTo?.[0]?.address ?? null,
        subject: parsed.subject ?? '',
        html: parsed.html?.trimEnd() ?? '',
        text: parsed.text?.trimEnd() ?? '',
        headers: Object.fromEntries(parsed.headers.map(({ key, value }) => [key, value])),
        attachments: parsed.attachments.map(({ filename, mimeType, content }) => ({
          fileName: filename ?? '',
          contentType: mimeType,
          content: new Uint8Array(content as ArrayBuffer),
        })),
      })
      done()
    },
    ...change,
  })
  server.on('error', () => {}) // a client that hangs up is part of these tests
  const listening = server.listen(0, '127.0.0.1')
  await new Promise((resolve) => listening.once('listening', resolve))
  const { port } = listening.address() as AddressInfo
  return {
    url: `smtp://127.0.0.1:${port}`,
    port,
    received,
    connections,
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}

const reply = (responseCode: number, message: string): Error =>
  Object.assign(new Error(message), { responseCode })

const sender = 'Merchant <no-reply@merchant.example>'
const lost = (code: string) => ({
  name: 'AccessLost',
  accepted: 'no',
  code,
  remedy: expect.stringMatching(/operator/),
})

mailContract('smtp', async () => {
  const server = await smtpServer()
  const mail = smtpMail({ url: server.url, from: sender })
  const arrived = async (to: string) => server.received.filter((each) => each.to === to)
  return {
    mail,
    arrived,
    departures: async (to) => (await arrived(to)).length,
    async close() {
      mail.close()
      await server.close()
    },
  }
})

describe('smtp mail', () => {
  const closing: (() => unknown)[] = []
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close()
  })
  async function open(change: SMTPServerOptions = {}, credentials = '') {
    const server = await smtpServer(change)
    const mail = smtpMail({ url: `smtp://${credentials}127.0.0.1:${server.port}`, from: sender })
    closing.push(server.close, mail.close)
    return { server, mail }
  }

  test('the Message-ID that arrives is the returned one, equal for one key', async () => {
    const { server, mail } = await open()
    const one = aMail()
    const { messageId } = await mail.send(one)
    await mail.send(one)
    expect(server.received.map((each) => each.messageId)).toEqual([messageId, messageId])
    expect(messageId).toMatch(/^<[0-9a-f]{40}@merchant\.example>$/)
  })

  test('without `from` the message has the server’s sender', async () => {
    const { server, mail } = await open()
    await mail.send(aMail())
    expect(server.received[0]?.from).toBe(sender)
  })

  test('connections are reused, even after refused addresses', async () => {
    const { server, mail } = await open()
    for (let round = 0; round < 10; round++) {
      await mail.send(aMail())
      await expect(mail.send(aMail({ to: 'x+bounce@example.com' }))).rejects.toThrow()
    }
    expect(server.received).toHaveLength(10)
    expect(server.connections.length).toBeLessThanOrEqual(5)
  })

  test('a restarted server is reconnected', async () => {
    const { server, mail } = await open()
    await mail.send(aMail())
    await server.close()
    await expect(mail.send(aMail())).rejects.toMatchObject({ name: 'Unavailable' })
    const again = new SMTPServer({ disabledCommands: ['STARTTLS', 'AUTH'], closeTimeout: 100 })
    closing.push(() => new Promise<void>((resolve) => again.close(() => resolve())))
    await new Promise<void>((resolve) => again.listen(server.port, '127.0.0.1', resolve))
    await expect(mail.send(aMail())).resolves.toHaveProperty('messageId')
  })

  test('bad credentials are Unavailable and are not shown', async () => {
    const { mail } = await open(
      {
        disabledCommands: ['STARTTLS'],
        allowInsecureAuth: true,
        onAuth: (_auth, _session, done) => done(reply(535, 'Wrong password')),
      },
      'user:s3cr3t@',
    )
    const error = await mail.send(aMail()).catch((caught: unknown) => caught)
    expect(error).toMatchObject(lost('mail-login-refused'))
    const { message, cause } = error as Error
    expect(`${message} ${cause}`).not.toContain('s3cr3t')
    const findings = await mail.check()
    expect(findings.filter(({ isFine }) => !isFine)).toMatchObject([
      { code: 'mail-login-refused', remedy: expect.stringContaining('MAIL_URL') },
    ])
    expect(JSON.stringify(findings)).not.toContain('s3cr3t')
  })

  test('a server error during login is not a wrong password', async () => {
    const { mail } = await open(
      {
        disabledCommands: ['STARTTLS'],
        allowInsecureAuth: true,
        onAuth: (_auth, _session, done) => done(reply(454, 'Temporary authentication failure')),
      },
      'user:s3cr3t@',
    )
    await expect(mail.send(aMail())).rejects.toMatchObject({ name: 'Unavailable', accepted: 'no' })
  })

  test('a server that requires a login we lack is lost access', async () => {
    const { mail } = await open({ disabledCommands: ['STARTTLS'], allowInsecureAuth: true })
    await expect(mail.send(aMail())).rejects.toMatchObject(lost('mail-login-refused'))
  })

  test.each([
    [554, '5.7.1 <ana@example.com>: Relay access denied'],
    [550, '5.7.64 TenantAttribution; Relay Access Denied'],
    [554, 'We do not relay'],
    [550, '5.7.1 Unable to relay'],
    [550, 'relay not permitted'],
    [553, '5.7.1 Relaying denied'],
  ])('a server that relays nothing (%d %s) is lost access, at RCPT and at MAIL', async (code, text) => {
    const no = (_address: unknown, _session: unknown, done: (error: Error) => void) => done(reply(code, text))
    for (const change of [{ onRcptTo: no }, { onMailFrom: no }] as SMTPServerOptions[]) {
      const { mail } = await open(change)
      await expect(mail.send(aMail())).rejects.toMatchObject(lost('mail-relay-denied'))
    }
  })

  const ofAddress = { name: 'Refused', code: 'recipient-refused' }
  test.each([
    [550, '5.1.1 User unknown, says smtp-relay.example.com', ofAddress],
    [550, 'No such user here (relay.example.com)', ofAddress],
    [550, '5.2.1 Mailbox disabled, relaying stopped', ofAddress],
    [553, 'ana@relay.example.com is no mailbox', ofAddress],
    [550, '5.7.1 Blocked by policy', ofAddress],
    [550, '5.1.1 unverified: host said 554 Relay denied', ofAddress],
    [552, '5.2.2 Mailbox full', { name: 'Unavailable', accepted: 'no' }],
  ])('an address answered with %d %s is not lost access', async (code, text, expected) => {
    const { mail } = await open({ onRcptTo: (_address, _session, done) => done(reply(code, text)) })
    await expect(mail.send(aMail())).rejects.toMatchObject(expected)
  })

  test.each([
    ['smtp://user:secret@mail.example.com:587', true],
    ['smtp://mail.example.com?requireTLS=false', false],
    ['smtp://203.0.113.5:25', true],
    ['smtp://172.32.0.1', true],
    ['smtp://[2001:db8::1]:25', true],
    ['smtp://10.example.com', true],
    ['smtps://mail.example.com', false],
    ['smtp://localhost:1025', false],
    ['smtp://mailpit:1025', false],
    ['smtp://127.0.0.1:25', false],
    ['smtp://10.1.2.3', false],
    ['smtp://172.16.0.1', false],
    ['smtp://[::1]:25', false],
    ['smtp://[fd00::1]:25', false],
    ['smtp://relay.internal', false],
    ['smtp://localhost?requireTLS=true', true],
  ])('%s needs TLS: %s', (url, expected) => {
    expect(requiresTls(url)).toBe(expected)
  })

  test('if TLS is required and not offered, no login is sent', async () => {
    const logins: string[] = []
    const server = await smtpServer({
      disabledCommands: ['STARTTLS'],
      allowInsecureAuth: true,
      onAuth: ({ username }, _session, done) => {
        logins.push(username ?? '')
        done(null, { user: username })
      },
    })
    const at = (query: string) => {
      const url = `smtp://user:s3cr3t@127.0.0.1:${server.port}${query}`
      const mail = smtpMail({ url, from: sender })
      closing.push(mail.close)
      return mail
    }
    closing.push(server.close)
    const strict = at('?requireTLS=true')
    await expect(strict.send(aMail())).rejects.toMatchObject(lost('mail-without-tls'))
    expect((await strict.check()).filter(({ isFine }) => !isFine)).toMatchObject([
      { code: 'mail-without-tls' },
    ])
    // Not the usual notation of a private address, so it is refused.
    const foreign = smtpMail({ url: `smtp://user:s3cr3t@127.1:${server.port}`, from: sender })
    closing.push(foreign.close)
    await expect(foreign.send(aMail())).rejects.toMatchObject(lost('mail-without-tls'))
    expect(logins).toEqual([])
    await at('').send(aMail())
    expect(logins).toEqual(['user'])
  })

  test.each([
    ['a message', 554, { name: 'Refused', code: 'message-refused' }],
    ['a message', 451, { name: 'Unavailable', accepted: 'no' }],
    ['a message', 421, { name: 'Unavailable', accepted: 'no' }],
    ['a sender', 553, { name: 'Refused', code: 'message-refused' }],
  ])('%s answered with %d', async (what, code, expected) => {
    const no = reply(code, 'Not this one')
    const { mail } = await open(
      what === 'a sender'
        ? { onMailFrom: (_address, _session, done) => done(no) }
        : { onData: (stream, _session, done) => void stream.resume().once('end', () => done(no)) },
    )
    await expect(mail.send(aMail())).rejects.toMatchObject(expected)
  })

  /** A server that answers each command from a script, and at its end hangs up or stays silent. */
  async function startScriptedServer(answers: Record<string, string>, otherwise: 'hang up' | 'silence') {
    const sockets = new Set<Socket>()
    const server: Server = createServer((socket) => {
      sockets.add(socket.on('error', () => {}))
      socket.write('220 scripted\r\n')
      let inData = false
      socket.on('data', (chunk) => {
        const text = chunk.toString('latin1')
        if (inData && !text.endsWith('\r\n.\r\n')) return
        const command = inData ? '.' : (text.split(/[\s:]/)[0] ?? '')
        const answer = answers[command]
        inData = command === 'DATA'
        if (answer) socket.write(`${answer}\r\n`)
        else if (otherwise === 'hang up') socket.destroy()
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const mail = smtpMail({
      url: `smtp://127.0.0.1:${port}`,
      from: sender,
      connectTimeoutMs: 150,
      socketTimeoutMs: 150,
    })
    closing.push(() => {
      for (const socket of sockets) socket.destroy()
      return new Promise<void>((resolve) => server.close(() => resolve()))
    }, mail.close)
    return mail
  }
  const upTo = (last: string): Record<string, string> => {
    const all = { EHLO: '250 scripted', MAIL: '250 ok', RCPT: '250 ok', DATA: '354 go on', '.': '250 ok' }
    const names = Object.keys(all) as (keyof typeof all)[]
    return Object.fromEntries(
      names.slice(0, names.indexOf(last as keyof typeof all) + 1).map((n) => [n, all[n]]),
    )
  }

  test('the test script sends a mail if every answer is a success', async () => {
    await expect((await startScriptedServer(upTo('.'), 'silence')).send(aMail())).resolves.toHaveProperty(
      'messageId',
    )
  })

  test.each([
    ['EHLO', 'silence', 'no'],
    ['MAIL', 'silence', 'no'],
    ['RCPT', 'silence', 'no'],
    ['RCPT', 'hang up', 'no'],
    ['DATA', 'silence', 'unknown'],
    ['DATA', 'hang up', 'unknown'],
  ] as const)('after the answer to %s, %s: accepted is `%s`', async (last, end, accepted) => {
    const mail = await startScriptedServer(upTo(last), end)
    await expect(mail.send(aMail())).rejects.toMatchObject({ name: 'Unavailable', accepted })
  })

  test('a server that never greets times out', async () => {
    const silent = createServer()
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const { port } = silent.address() as AddressInfo
    const mail = smtpMail({ url: `smtp://127.0.0.1:${port}`, from: sender, connectTimeoutMs: 100 })
    closing.push(() => new Promise<void>((resolve) => silent.close(() => resolve())), mail.close)
    await expect(mail.send(aMail())).rejects.toMatchObject({ name: 'Unavailable', accepted: 'no' })
  })

  test('one message never exceeds its timeout, even if the server trickles', async () => {
    const drip = createServer((socket) => {
      const timer = setInterval(() => socket.write('220-still here\r\n'), 20)
      socket.on('error', () => {}).on('close', () => clearInterval(timer))
    })
    await new Promise<void>((resolve) => drip.listen(0, '127.0.0.1', resolve))
    const { port } = drip.address() as AddressInfo
    const mail = smtpMail({ url: `smtp://127.0.0.1:${port}`, from: sender, sendTimeoutMs: 200 })
    closing.push(() => new Promise<void>((resolve) => drip.close(() => resolve())), mail.close)
    await expect(mail.send(aMail())).rejects.toMatchObject({ name: 'Unavailable', accepted: 'no' })
  })
})
