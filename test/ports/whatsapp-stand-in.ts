/**
 * The part of the WhatsApp Business Cloud API that the adapter uses, in memory, behind real HTTP. whatsapp-facts.md
 * lists what it accepts and refuses, with sources: Graph API errors by code, throttling, timeouts, paging by cursors,
 * the embedded signup, two-step PINs, numbers of the WhatsApp Business app, people without a phone.
 */
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface SentBody {
  to?: string
  recipient?: string
  biz_opaque_callback_data: string
  type: string
  [part: string]: unknown
}

interface StandInTemplate {
  id: string
  name: string
  language: string
  category: string
  status: string
  components: StandInComponent[]
}

interface StandInComponent {
  type: string
  text?: string
  format?: string
  example?: unknown
  buttons?: { type: string; text?: string }[]
}

/** Injected instead of an answer. */
interface Fault {
  status: number
  code: number
  subcode?: number
  message?: string
  headers?: Record<string, string>
  /** A page of an intermediary instead of an answer. */
  page?: string
}

export interface StandInNumber extends Record<string, unknown> {
  id: string
  /** PIN of the two-step verification; null: none. */
  pin: string | null
}

export interface WhatsappStandIn {
  /** `http://127.0.0.1:port/v26.0` */
  graphUrl: string
  appId: string
  appSecret: string
  account: string
  /** The accounts that the merchant shared with us, by the token's permissions. */
  accounts: string[]
  number: StandInNumber
  /** More numbers of the account. */
  otherNumbers: StandInNumber[]
  token: string
  scopes: string[]
  messages: SentBody[]
  /** Accepted, but never delivered. */
  dropped: SentBody[]
  templates: Map<string, StandInTemplate>
  /** Whether our app is subscribed to the account's callbacks. */
  isSubscribed: boolean
  /** The app's webhook subscription. */
  callbacks: { url: string; fields: string[] } | null
  accountReview: string
  /** The number fields that this version knows. */
  numberFields: Set<string>
  /** The error code of registering; `late`: 131000 after it succeeded; null: none. */
  registerFault: number | 'late' | null
  /** Requested syncs of the WhatsApp Business app. */
  syncs: string[]
  readMessages: string[]
  files: Map<string, Buffer>
  /** `METHOD path` of every request. */
  requests: string[]
  /** The merchant completes the signup; answers the code. Throws if the page would not open. */
  signUp(url: string): string
  /** Every request fails like this, until null. */
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

const version = 'v26.0'
/** Fields of a number; `messaging_limit_tier` is deprecated, and missing here. */
const numberFields = [
  'id',
  'display_phone_number',
  'verified_name',
  'status',
  'name_status',
  'quality_rating',
  'throughput',
  'whatsapp_business_manager_messaging_limit',
  'health_status',
  'is_on_biz_app',
  'platform_type',
  'last_onboarded_time',
  'code_verification_status',
]
const userId = /^[A-Z]{2}\.(ENT\.)?[A-Za-z0-9]{1,128}$/
const forbiddenInParameters = /[\n\r\t]| {5}/
const drawn = /[*_~`\n\r]|\p{Emoji_Presentation}/u

export async function openWhatsapp(pageSize = 2): Promise<WhatsappStandIn> {
  const codes = new Map<string, string>()
  let fault: Fault | 'silence' | null = null
  let made = 0
  const held = new Set<ServerResponse>()
  const server = createServer((request, response) => {
    void handle(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const state: WhatsappStandIn = {
    graphUrl: `${origin}/${version}`,
    appId: '4711',
    appSecret: 'the secret of the app',
    account: '102290129340398',
    accounts: ['102290129340398'],
    number: {
      id: '106540352242922',
      display_phone_number: '+55 11 4000-1000',
      verified_name: 'Loja',
      status: 'PENDING',
      name_status: 'APPROVED',
      quality_rating: 'GREEN',
      throughput: { level: 'STANDARD' },
      whatsapp_business_manager_messaging_limit: 'TIER_2K',
      is_on_biz_app: false,
      platform_type: 'NOT_APPLICABLE',
      last_onboarded_time: '2026-11-20T12:00:00+0000',
      pin: null,
    },
    otherNumbers: [],
    token: 'EAAtokenofthemerchant0123456789',
    scopes: ['whatsapp_business_management', 'whatsapp_business_messaging'],
    messages: [],
    dropped: [],
    templates: new Map(),
    isSubscribed: false,
    callbacks: null,
    accountReview: 'APPROVED',
    numberFields: new Set(numberFields),
    registerFault: null,
    syncs: [],
    readMessages: [],
    files: new Map(),
    requests: [],
    signUp(url) {
      const query = new URL(url).searchParams
      const wanted = ['client_id', 'config_id', 'redirect_uri', 'state', 'extras']
      for (const name of wanted) if (!query.get(name)) throw new Error(`The dialog lacks ${name}`)
      const { version: signup, sessionInfoVersion } = JSON.parse(query.get('extras')!)
      if (!/^v[34]/.test(signup)) throw new Error('This version of Embedded Signup has ended')
      if (!sessionInfoVersion) throw new Error('No session info is told')
      const code = randomUUID()
      codes.set(code, query.get('redirect_uri')!)
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
    const path = url.pathname.replace(`/${version}/`, '')
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
      const { status, code, subcode, headers = {}, page } = error.fault
      if (page !== undefined) {
        response.writeHead(status, { 'content-type': 'text/html' }).end(page)
        return
      }
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
    if (path === `${state.appId}/subscriptions`) return subscriptions(request)
    requireToken(request)
    const numbers = [state.number, ...state.otherNumbers]
    const [, numberId = '', edge = ''] = /^(\d+)(?:\/(\w+))?$/.exec(path) ?? []
    const number = numbers.find(({ id }) => id === numberId)
    if (number) return ofNumber(number, `${method} ${edge}`, url, body)
    switch (`${method} ${path}`) {
      case `GET ${state.account}/phone_numbers`:
        return paged(
          numbers.map((each) => fieldsOf(each, url)),
          url,
        )
      case `GET ${state.account}`:
        return { id: state.account, account_review_status: state.accountReview }
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

  function ofNumber(number: StandInNumber, call: string, url: URL, body: Record<string, string>): unknown {
    switch (call) {
      case 'GET ':
        return fieldsOf(number, url)
      case 'POST messages':
        return takeMessage(body as never)
      case 'POST register':
        return register(number, body)
      case 'POST smb_app_data':
        return syncApp(number, body)
      default:
        throw bad(100, 'Unsupported post request', 33)
    }
  }

  function register(number: StandInNumber, { pin = '', messaging_product: product }: Record<string, string>) {
    if (typeof state.registerFault === 'number') throw bad(state.registerFault)
    if (product !== 'whatsapp' || !/^\d{6}$/.test(pin)) throw bad(100)
    // Registering would remove the number from the merchant's app.
    if (number.is_on_biz_app) throw bad(133010, 'Phone number is in use with the WhatsApp Business app')
    if (number.pin !== null && number.pin !== pin) throw bad(133005, 'Two step verification PIN Mismatch')
    Object.assign(number, { pin, status: 'CONNECTED', platform_type: 'CLOUD_API' })
    if (state.registerFault === 'late') throw new Failure({ status: 500, code: 131000 })
    return { success: true }
  }

  function syncApp(number: StandInNumber, { sync_type: kind = '' }: Record<string, string>) {
    if (!number.is_on_biz_app) throw bad(100, 'The number is not in use with the WhatsApp Business app')
    if (!['smb_app_state_sync', 'history'].includes(kind)) throw bad(100)
    // This step can be performed once.
    if (state.syncs.includes(kind)) throw bad(100, 'It was asked for already')
    state.syncs.push(kind)
    return { messaging_product: 'whatsapp', request_id: randomUUID() }
  }

  function other(
    method: string,
    path: string,
    body: Pick<StandInTemplate, 'category' | 'components'>,
  ): unknown {
    const template = state.templates.get(path)
    if (method === 'POST' && template) {
      checkComponents(body.components)
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

  function requireApp(request: IncomingMessage): void {
    if (request.headers.authorization !== `Bearer ${state.appId}|${state.appSecret}`) throw bad(190)
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
    requireApp(request)
    if (url.searchParams.get('input_token') !== state.token) return { data: { is_valid: false, scopes: [] } }
    const granular = state.scopes.map((scope) => ({ scope, target_ids: state.accounts }))
    return { data: { is_valid: true, scopes: state.scopes, granular_scopes: granular } }
  }

  function subscriptions(request: IncomingMessage): unknown {
    requireApp(request)
    if (!state.callbacks) return { data: [] }
    const { url, fields } = state.callbacks
    return {
      data: [
        {
          object: 'whatsapp_business_account',
          callback_url: url,
          active: true,
          fields: fields.map((name) => ({ name, version })),
        },
      ],
    }
  }

  function takeMessage(body: SentBody & { status?: string; message_id?: string }): unknown {
    if (body.status === 'read') {
      state.readMessages.push(body.message_id!)
      return { success: true }
    }
    const { to, recipient } = body
    if (to === undefined && recipient === undefined) throw bad(131008, 'Required parameter is missing')
    if (body.recipient_type !== 'individual' || !body[body.type]) throw bad(100)
    if (recipient !== undefined && to === undefined && !userId.test(recipient)) throw bad(131009)
    if (body.type === 'audio' && 'caption' in (body.audio as object)) throw bad(100)
    if (body.type === 'template') checkParameters(body.template as never)
    if (to?.endsWith('0001')) throw bad(131026, 'Message undeliverable')
    const id = `wamid.${randomUUID()}`
    const isPhone = to === undefined || /^\+?\d{8,15}$/.test(to)
    // An id in the phone field is accepted, and never delivered.
    if (isPhone) state.messages.push(body)
    else state.dropped.push(body)
    return {
      messaging_product: 'whatsapp',
      contacts: [
        to === undefined
          ? { input: recipient, user_id: recipient }
          : { input: to, wa_id: to.replace(/^\D+/, '') },
      ],
      messages: [{ id }],
    }
  }

  function checkParameters({
    components = [],
  }: {
    components?: { parameters: { text?: string }[] }[]
  }): void {
    for (const { text } of components.flatMap(({ parameters }) => parameters)) {
      if (text === '') throw bad(131008, 'Required parameter is missing')
      if (text !== undefined && forbiddenInParameters.test(text)) {
        const rule = 'Param text cannot have new-line/tab characters or more than 4 consecutive spaces'
        throw bad(132018, rule)
      }
    }
  }

  function fieldsOf(number: StandInNumber, url: URL): Record<string, unknown> {
    const wanted = (url.searchParams.get('fields') ?? 'id,display_phone_number,verified_name').split(',')
    for (const field of wanted) {
      if (state.numberFields.has(field)) continue
      throw bad(
        100,
        `Tried accessing nonexisting field (${field}) on node type (WhatsAppBusinessPhoneNumber)`,
      )
    }
    return Object.fromEntries(Object.entries(number).filter(([name]) => wanted.includes(name)))
  }

  function paged(all: Record<string, unknown>[], url: URL): unknown {
    const from = Number(url.searchParams.get('after') ?? 0)
    const limit = Math.min(pageSize, Number(url.searchParams.get('limit') ?? 25))
    const data = all.slice(from, from + limit)
    const next = from + limit < all.length ? { next: `${state.graphUrl}/next` } : {}
    return { data, paging: { cursors: { before: String(from), after: String(from + limit) }, ...next } }
  }

  function checkComponents(components: readonly StandInComponent[]): void {
    if (!components.some((component) => component.type === 'BODY')) throw bad(100)
    for (const { type, text = '', buttons = [], example } of components) {
      const isPlain = type !== 'BODY'
      if (isPlain && drawn.test(text.replaceAll(/\{\{\d+\}\}/g, ''))) {
        throw bad(
          100,
          `The ${type} can't have any new lines, formatting characters, emojis or asterisks`,
          2388072,
        )
      }
      if (type === 'BODY' && /^\s*\{\{|\}\}\s*$/.test(text)) {
        throw bad(100, 'Variables can’t be at the start or end of the template', 2388299)
      }
      if (/\{\{/.test(text) && !example) throw bad(100, 'Parameters need an example', 2388043)
      if (buttons.some((button) => drawn.test(button.text ?? '') || /\{\{/.test(button.text ?? ''))) {
        const rule = "Buttons can't have any variables, newlines, emojis, or formatting characters"
        throw bad(100, rule, 2388049)
      }
    }
  }

  function createTemplate(body: Omit<StandInTemplate, 'id' | 'status'>): unknown {
    for (const { name, language } of state.templates.values()) {
      if (name === body.name && language === body.language) {
        throw bad(100, 'Content in this language already exists', 2388024)
      }
    }
    if (!/^[a-z0-9_]{1,512}$/.test(body.name)) throw bad(100)
    checkComponents(body.components)
    made += 1
    const id = String(1_000_000 + made)
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
