/**
 * The part of Postmark's API that the adapter uses, in memory, behind real HTTP. `postmark-facts.md` lists what it
 * accepts and refuses, with sources.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { testsBeginAt } from '#test/support/test-clock'
import type { ArrivedMail } from './mail.contract.ts'

/** Injected into the next requests: an answer, no answer, or a broken connection. */
export type Fault =
  | { status: number; ErrorCode?: number; Message?: string; headers?: Record<string, string> }
  | 'silence'
  | 'drop'

export interface PostmarkStandIn {
  endpoint: string
  /** Newest first. */
  received: (ArrivedMail & {
    messageId: string | undefined
    stream: string
    id: string
    metadata: Record<string, string>
  })[]
  requests: string[]
  faults: Fault[]
  /** Confirmed senders or domains. */
  senders: Set<string>
  deliveryType: 'Live' | 'Sandbox'
  webhooks: StandInWebhook[]
  /** The body and headers of a webhook about the latest mail to an address, as Postmark sends them. */
  report(record: PostmarkRecord, to: string, change?: object): RequestInit
  close(): Promise<void>
}

export interface StandInWebhook {
  Url: string
  MessageStream: string
  HttpAuth?: { Username: string; Password: string } | null
  Triggers: Partial<Record<PostmarkRecord, { Enabled: boolean }>>
}
export type PostmarkRecord = 'Bounce' | 'SpamComplaint' | 'SubscriptionChange'

interface Sent {
  From?: string
  To?: string
  ReplyTo?: string
  Subject?: string
  HtmlBody?: string
  TextBody?: string
  MessageStream?: string
  Headers?: { Name: string; Value: string }[]
  Attachments?: { Name: string; Content: string; ContentType: string }[]
  TrackOpens?: boolean
  TrackLinks?: string
  Metadata?: Record<string, string>
}
type Answer = readonly [status: number, body: object]

const streams = [
  { ID: 'outbound', MessageStreamType: 'Transactional', ArchivedAt: null },
  { ID: 'news', MessageStreamType: 'Broadcasts', ArchivedAt: null },
  { ID: 'old', MessageStreamType: 'Broadcasts', ArchivedAt: '2026-01-01T00:00:00Z' },
  { ID: 'inbound', MessageStreamType: 'Inbound', ArchivedAt: null },
]
const known = new Set([
  ...[
    'From',
    'To',
    'Cc',
    'Bcc',
    'Subject',
    'Tag',
    'HtmlBody',
    'TextBody',
    'ReplyTo',
    'Headers',
    'TrackOpens',
  ],
  ...['TrackLinks', 'Attachments', 'Metadata', 'MessageStream'],
])
const forbiddenFiles =
  /\.(vbs|exe|bin|bat|chm|com|cpl|crt|hlp|hta|inf|ins|isp|jse|lnk|mdb|pcd|pif|reg|scr|sct|shs|vbe|vba|wsf|wsh|wsl|msc|msi|msp|mst)$/i
const largest = 10 * 1024 * 1024

const refused = (ErrorCode: number, Message: string): Answer => [422, { ErrorCode, Message }]

/** Parses `"Name" <address>` or an address: a name with `:` or `<` is quoted. */
function parseAddress(text: string): { name: string; address: string } | null {
  const [, quoted, plain, inBrackets] =
    /^(?:"((?:[^"\\\r\n]|\\.)*)"\s*|([^"<>:;@,()[\]\\\r\n]*?)\s*)<([^<>\s]+)>$/.exec(text) ?? []
  const address = inBrackets ?? text
  if (!/^[^\s@<>",;:]+@[^\s@<>",;:]+$/.test(address)) return null
  return { name: (quoted?.replace(/\\(.)/g, '$1') ?? plain ?? '').trim(), address }
}

export async function postmarkStandIn(token: string, sender: string): Promise<PostmarkStandIn> {
  const standIn: PostmarkStandIn = {
    endpoint: '',
    received: [],
    requests: [],
    faults: [],
    senders: new Set([sender]),
    deliveryType: 'Live',
    webhooks: [],
    report: (record, to, change = {}) => buildReport(standIn, record, to, change),
    close() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
  const server = createServer(async (request, response) => {
    const body = await readBody(request)
    standIn.requests.push(`${request.method} ${request.url}`)
    const fault = standIn.faults.shift()
    if (fault === 'silence') return
    if (fault === 'drop') return void request.socket.destroy()
    if (fault) {
      const { status, headers = {}, ...error } = fault
      return answer(response, [status, error], headers)
    }
    answer(response, answerTo(standIn, token, request, body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  standIn.endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return standIn
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

function answer(
  response: ServerResponse,
  [status, body]: Answer,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}

function answerTo(standIn: PostmarkStandIn, token: string, request: IncomingMessage, body: string): Answer {
  if (request.headers['x-postmark-server-token'] !== token) {
    return [
      401,
      {
        ErrorCode: 10,
        Message: 'The Server Token you provided in the X-Postmark-Server-Token request header was invalid.',
      },
    ]
  }
  const { method, url } = request
  if (method === 'GET' && url === '/server') {
    return [200, { ID: 1, Name: 'Shop', DeliveryType: standIn.deliveryType, TrackOpens: false }]
  }
  if (method === 'GET' && url?.startsWith('/webhooks?')) {
    const stream = new URLSearchParams(url.split('?')[1]).get('MessageStream')
    return [200, { Webhooks: standIn.webhooks.filter((each) => each.MessageStream === stream) }]
  }
  const [, id] = /^\/message-streams\/([^/]+)$/.exec(url ?? '') ?? []
  if (method === 'GET' && id) {
    const stream = streams.find(({ ID }) => ID === decodeURIComponent(id))
    return stream
      ? [200, stream]
      : [422, { ErrorCode: 1226, Message: 'The message stream for the provided ID was not found.' }]
  }
  if (method === 'POST' && url === '/email') return email(standIn, request, body)
  return [404, { ErrorCode: 0, Message: 'Not found' }]
}

function email(standIn: PostmarkStandIn, request: IncomingMessage, text: string): Answer {
  if (!/^application\/json/.test(request.headers['content-type'] ?? '')) return refused(409, 'JSON required')
  if (text.length > largest) return [413, { ErrorCode: 0, Message: 'Payload too large' }]
  let sent: Sent
  try {
    sent = JSON.parse(text) as Sent
  } catch {
    return refused(402, 'Invalid JSON')
  }
  if (Object.keys(sent).some((field) => !known.has(field))) return refused(403, 'Incompatible JSON')
  const {
    From = '',
    To = '',
    ReplyTo,
    Subject = '',
    HtmlBody,
    TextBody,
    MessageStream: stream = 'outbound',
  } = sent
  const from = parseAddress(From)
  const to = parseAddress(To)
  if (!from) return refused(300, `Invalid 'From' address: '${From}'.`)
  if (!to || to.address.endsWith('.invalid')) return refused(300, `Invalid 'To' address: '${To}'.`)
  if (ReplyTo && !parseAddress(ReplyTo)) return refused(300, `Invalid 'ReplyTo' address: '${ReplyTo}'.`)
  if (!HtmlBody && !TextBody) return refused(300, 'Provide either email TextBody or HtmlBody or both.')
  const headers = sent.Headers ?? []
  if ([Subject, ...headers.flatMap(({ Name, Value }) => [Name, Value])].some((line) => /[\r\n]/.test(line))) {
    return refused(300, 'Invalid header value.')
  }
  const domain = from.address.split('@')[1]!
  if (![from.address, domain].some((each) => standIn.senders.has(each))) {
    return refused(
      400,
      `The 'From' address you supplied (${from.address}) is not a Sender Signature on your account.`,
    )
  }
  const metadata = sent.Metadata ?? {}
  if (Object.entries(metadata).some(([name, value]) => name.length > 20 || value.length > 80)) {
    return refused(300, 'Metadata names have at most 20, values 80 characters.')
  }
  const found = streams.find(({ ID }) => ID === stream)
  if (!found || found.ArchivedAt) {
    return refused(1235, `The stream provided: '${stream}' does not exist on this server.`)
  }
  if (found.MessageStreamType === 'Inbound') {
    return refused(1235, "Sending is not supported on the supplied 'MessageStream'.")
  }
  const attachments = sent.Attachments ?? []
  for (const { Name } of attachments) {
    if (forbiddenFiles.test(Name))
      return refused(411, `The attachment ${Name} has a forbidden file extension.`)
  }
  if (to.address.includes('+bounce')) {
    return refused(
      406,
      'You tried to send to recipient(s) that have been marked as inactive. Found inactive addresses: ' +
        `${to.address}. Inactive recipients are ones that have generated a hard bounce, a spam complaint, or a manual suppression.`,
    )
  }
  if (to.address.includes('+down')) return [503, { ErrorCode: 100, Message: 'Maintenance' }]
  const header = (name: string): string | undefined =>
    headers.find(({ Name }) => Name.toLowerCase() === name)?.Value
  const id = `00000000-0000-4000-8000-${String(standIn.received.length).padStart(12, '0')}`
  standIn.received.unshift({
    messageId: header('x-pm-keepid') === 'true' ? header('message-id') : `<${id}@mtasv.net>`,
    stream,
    id,
    metadata,
    to: to.address,
    from: from.name ? `${from.name} <${from.address}>` : from.address,
    replyTo: ReplyTo ?? null,
    subject: Subject,
    html: HtmlBody ?? '',
    text: TextBody ?? '',
    headers: Object.fromEntries(headers.map(({ Name, Value }) => [Name.toLowerCase(), Value])),
    attachments: attachments.map(({ Name, Content, ContentType }) => ({
      fileName: Name,
      contentType: ContentType,
      content: new Uint8Array(Buffer.from(Content, 'base64')),
    })),
  })
  return [
    200,
    { To, SubmittedAt: new Date(testsBeginAt).toISOString(), MessageID: id, ErrorCode: 0, Message: 'OK' },
  ]
}

/** A webhook's fields, as documented; its credentials are in the webhook's URL. */
function buildReport(
  { webhooks, received }: PostmarkStandIn,
  record: PostmarkRecord,
  email: string,
  change: object,
): RequestInit {
  const mail = received.find(({ to }) => to === email)
  const at = new Date(testsBeginAt).toISOString()
  const { username = '', password = '' } = URL.parse(webhooks[0]?.Url ?? '') ?? {}
  const about = {
    MessageID: mail?.id,
    Metadata: mail?.metadata ?? {},
    ServerID: 23,
    MessageStream: 'outbound',
  }
  const bounce = {
    ...{
      ID: 42,
      TypeCode: 1,
      Name: 'Hard bounce',
      Tag: '',
      Details: 'smtp;550 5.1.1',
      Subject: mail?.subject,
    },
    ...{
      Type: record === 'Bounce' ? 'HardBounce' : 'SpamComplaint',
      Description: 'The mailbox does not exist.',
    },
    ...{
      Email: email,
      From: mail?.from,
      BouncedAt: at,
      DumpAvailable: true,
      Inactive: true,
      CanActivate: true,
    },
  }
  const subscription = {
    ...{ Recipient: email, ChangedAt: at, Origin: 'Recipient', Tag: null },
    ...{ SuppressSending: true, SuppressionReason: 'HardBounce' },
  }
  const fields = record === 'SubscriptionChange' ? subscription : bounce
  return {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Basic ${Buffer.from(`${username}:${decodeURIComponent(password)}`).toString('base64')}`,
    },
    body: JSON.stringify({ RecordType: record, ...about, ...fields, ...change }),
  }
}
