/**
 * The part of the WhatsApp Business Cloud API that the adapter uses, in memory, behind real HTTP, built from its public
 * documentation: Graph API errors by code, throttling, silence, paging by cursors, the embedded signup's exchange.
 */
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface SentBody {
  to: string
  biz_opaque_callback_data: string
  type: string
  [part: string]: unknown
}

export interface StandInTemplate {
  id: string
  name: string
  language: string
  category: string
  status: string
  components: { type: string }[]
}

/** What a request gets instead of its answer. */
export interface Fault {
  status: number
  code: number
  subcode?: number
  message?: string
  headers?: Record<string, string>
}

export interface WhatsappStandIn {
  /** `http://127.0.0.1:port/v23.0` */
  graphUrl: string
  appId: string
  appSecret: string
  account: string
  number: Record<string, unknown> & { id: string }
  token: string
  messages: SentBody[]
  templates: Map<string, StandInTemplate>
  /** Whether our app is subscribed to the account's callbacks. */
  isSubscribed: boolean
  readMessages: string[]
  files: Map<string, Buffer>
  /** `METHOD path` of every request. */
  requests: string[]
  /** A code as the signup hands it back, for this return address. */
  issueCode(returnUrl: string): string
  /** Each request fails so, until null. */
  fail(fault: Fault | 'silence' | null): void
  close(): Promise<void>
}

class Failure extends Error {
  readonly fault: Fault
  constructor(fault: Fault) {
    super(fault.message ?? `error ${fault.code}`)
    this.fault = fault
  }
}

const bad = (code: number, message = 'Invalid parameter', subcode?: number): Failure =>
  new Failure({ status: 400, code, message, ...(subcode ? { subcode } : {}) })

export async function openWhatsapp(pageSize = 2): Promise<WhatsappStandIn> {
  const codes = new Map<string, string>()
  let fault: Fault | 'silence' | null = null
  const held = new Set<ServerResponse>()
  const server = createServer((request, response) => {
    void handle(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const state: WhatsappStandIn = {
    graphUrl: `${origin}/v23.0`,
    appId: '4711',
    appSecret: 'the secret of the app',
    account: '102290129340398',
    number: {
      id: '106540352242922',
      display_phone_number: '+55 11 4000-1000',
      verified_name: 'Loja',
      status: 'PENDING',
      name_status: 'APPROVED',
      quality_rating: 'GREEN',
      throughput: { level: 'STANDARD' },
      messaging_limit_tier: 'TIER_2K',
      last_onboarded_time: '2026-11-20T12:00:00+0000',
    },
    token: 'EAAtokenofthemerchant0123456789',
    messages: [],
    templates: new Map(),
    isSubscribed: false,
    readMessages: [],
    files: new Map(),
    requests: [],
    issueCode(returnUrl) {
      const code = randomUUID()
      codes.set(code, returnUrl)
      return code
    },
    fail(next) {
      fault = next
    },
    async close() {
      for (const response of held) response.destroy()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', origin)
    const path = url.pathname.replace(/^\/v23\.0\//, '')
    state.requests.push(`${request.method} ${path}`)
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const bytes = Buffer.concat(chunks)
    try {
      if (fault && fault !== 'silence') throw new Failure(fault)
      const answer = answerTo(request, url, path, bytes)
      if (fault === 'silence') {
        held.add(response)
        return
      }
      if (Buffer.isBuffer(answer)) response.writeHead(200, { 'content-type': 'image/png' }).end(answer)
      else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      const { status, code, subcode, headers = {} } = error.fault
      const body = {
        error: {
          message: `(#${code}) ${error.message}`,
          type: 'OAuthException',
          code,
          ...(subcode ? { error_subcode: subcode } : {}),
          error_data: { messaging_product: 'whatsapp', details: error.message },
          fbtrace_id: 'trace',
        },
      }
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
    }
  }

  function answerTo(request: IncomingMessage, url: URL, path: string, bytes: Buffer): unknown {
    const { method } = request
    const isJson = request.headers['content-type']?.includes('json')
    const body = isJson ? JSON.parse(bytes.toString('utf8')) : null
    if (path === 'oauth/access_token') return exchange(body)
    if (path === 'debug_token') return debug(request, url)
    requireToken(request)
    const { id } = state.number
    switch (`${method} ${path}`) {
      case `POST ${id}/messages`:
        return takeMessage(body)
      case `POST ${id}/register`:
        if (!/^\d{6}$/.test(body.pin)) throw bad(133005, 'Two-step verification PIN mismatch')
        state.number.status = 'CONNECTED'
        return { success: true }
      case `GET ${id}`:
        return numberWith(url.searchParams.get('fields'))
      case `GET ${state.account}/phone_numbers`:
        return {
          data: [
            { ...numberWith(null), id: '1', last_onboarded_time: '2020-01-01T00:00:00+0000' },
            numberWith(null),
          ],
        }
      case `POST ${state.account}/subscribed_apps`:
        state.isSubscribed = true
        return { success: true }
      case `DELETE ${state.account}/subscribed_apps`:
        state.isSubscribed = false
        return { success: true }
      case `GET ${state.account}/subscribed_apps`:
        return { data: state.isSubscribed ? [{ whatsapp_business_api_data: { id: state.appId } }] : [] }
      case `POST ${state.account}/message_templates`:
        return createTemplate(body)
      case `GET ${state.account}/message_templates`:
        return listTemplates(url)
      case `DELETE ${state.account}/message_templates`:
        return deleteTemplate(url)
      case `POST ${state.appId}/uploads`:
        if (!url.searchParams.get('file_type') || !url.searchParams.get('file_length')) throw bad(100)
        return { id: 'upload:MTphdHRhY2htZW50' }
      case 'POST upload:MTphdHRhY2htZW50':
        return { h: `4::${bytes.byteLength}` }
      default:
        return other(method ?? '', path, body)
    }
  }

  function other(
    method: string,
    path: string,
    body: { category: string; components: { type: string }[] },
  ): unknown {
    const template = state.templates.get(path)
    if (method === 'POST' && template) {
      Object.assign(template, { category: body.category, components: body.components, status: 'PENDING' })
      return { success: true }
    }
    const [, fileId] = /^(?:files\/)?([^/]+)$/.exec(path) ?? []
    const file = state.files.get(fileId ?? '')
    if (method === 'GET' && file) {
      if (path.startsWith('files/')) return file
      const address = `${state.graphUrl}/files/${fileId}`
      return {
        url: address,
        mime_type: 'image/png',
        file_size: file.byteLength,
        id: fileId,
        messaging_product: 'whatsapp',
      }
    }
    throw bad(100, `Unsupported request. Object with ID '${path}' does not exist`, 33)
  }

  function requireToken(request: IncomingMessage): void {
    const [, token] = /^(?:Bearer|OAuth) (.+)$/.exec(request.headers.authorization ?? '') ?? []
    if (token === state.token) return
    throw new Failure({ status: 401, code: 190, message: `Malformed access token ${token}` })
  }

  function exchange(body: Record<string, string>): unknown {
    const { client_id: appId, client_secret: secret, code = '', redirect_uri: returnUrl } = body
    if (appId !== state.appId || secret !== state.appSecret) throw bad(1, 'Error validating application')
    const isRight = codes.has(code) && codes.get(code) === returnUrl
    codes.delete(code)
    if (!isRight) throw bad(100, 'Invalid verification code format.', 36009)
    return { access_token: state.token, token_type: 'bearer' }
  }

  function debug(request: IncomingMessage, url: URL): unknown {
    if (request.headers.authorization !== `Bearer ${state.appId}|${state.appSecret}`) throw bad(190)
    if (url.searchParams.get('input_token') !== state.token) throw bad(190)
    const scope = (name: string) => ({ scope: name, target_ids: [state.account] })
    const scopes = [scope('whatsapp_business_management'), scope('whatsapp_business_messaging')]
    return { data: { is_valid: true, granular_scopes: scopes } }
  }

  function takeMessage(body: SentBody & { status?: string; message_id?: string }): unknown {
    if (body.status === 'read') {
      state.readMessages.push(body.message_id!)
      return { success: true }
    }
    if (!/^\d{8,15}$/.test(body.to) || !body[body.type]) throw bad(100)
    if (body.to.endsWith('0001')) throw bad(131026, 'Message undeliverable')
    state.messages.push(body)
    const id = `wamid.${randomUUID()}`
    return {
      messaging_product: 'whatsapp',
      contacts: [{ input: body.to, wa_id: body.to }],
      messages: [{ id }],
    }
  }

  function numberWith(fields: string | null): Record<string, unknown> {
    const wanted = fields?.split(',')
    return Object.fromEntries(
      Object.entries(state.number).filter(([name]) => !wanted || wanted.includes(name)),
    )
  }

  function createTemplate(body: Omit<StandInTemplate, 'id' | 'status'>): unknown {
    for (const { name, language } of state.templates.values()) {
      if (name === body.name && language === body.language) {
        throw bad(100, 'Content in this language already exists', 2388024)
      }
    }
    if (!body.components.some((component) => component.type === 'BODY')) throw bad(100)
    const id = String(1_000_000 + state.templates.size)
    state.templates.set(id, { ...body, id, status: 'PENDING' })
    return { id, status: 'PENDING', category: body.category }
  }

  function listTemplates(url: URL): unknown {
    const after = url.searchParams.get('after') ?? ''
    const limit = Math.min(pageSize, Number(url.searchParams.get('limit') ?? 25))
    const all = [...state.templates.values()].filter((each) => each.id > after)
    const data = all.slice(0, limit).map((each) => ({ ...each, rejected_reason: 'NONE' }))
    const cursors = { before: data[0]?.id ?? '', after: data.at(-1)?.id ?? '' }
    return { data, paging: { cursors, ...(all.length > limit ? { next: `${state.graphUrl}/next` } : {}) } }
  }

  function deleteTemplate(url: URL): unknown {
    const id = url.searchParams.get('hsm_id') ?? ''
    if (state.templates.get(id)?.name !== url.searchParams.get('name')) {
      throw bad(100, 'Message template not found', 2593002)
    }
    state.templates.delete(id)
    return { success: true }
  }

  return state
}
