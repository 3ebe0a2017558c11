/**
 * The part of Brevo's API (v3) that the adapter uses, in memory, behind real HTTP. `brevo-facts.md` lists what it
 * accepts and refuses, with sources.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { testsBeginAt } from '#test/support/test-clock'

export interface StandInContact {
  email: string
  id: number
  emailBlacklisted: boolean
  smsBlacklisted: boolean
  createdAt: string
  modifiedAt: string
  listIds: number[]
  listUnsubscribed: number[]
  attributes: Record<string, unknown>
  consentGroups?: { id: number; status: 'subscribed' | 'unsubscribed' }[]
}

type Fault = { status: number; headers?: Record<string, string>; body?: object } | 'silence' | 'drop'

export interface BrevoStandIn {
  endpoint: string
  contacts: Map<string, StandInContact>
  lists: Map<number, string>
  /** Null: the account does not have the feature. */
  consentGroups: { id: number; name: string }[] | null
  /** How often an import is asked for until it is completed, and how it ends. */
  imports: { asks: number; end: 'completed' | 'failed' }
  /** The account's attributes with their types. */
  attributes: Map<string, 'text' | 'boolean'>
  /** Such as `POST /v3/contacts`. */
  requests: string[]
  busiest: number
  faults: Fault[]
  isDown: boolean
  /** Its clock. */
  now: string
  /** Adds a contact, as another client would. */
  add(email: string, change?: Partial<StandInContact>): StandInContact
  close(): Promise<void>
}

interface Process {
  id: number
  name: 'IMPORTUSER'
  asks: number
  info: { import: Record<string, string | null> }
}
interface Imports {
  processes: Map<number, Process>
  reports: Map<string, string>
}

type Answer = readonly [status: number, body?: object]
type Body = Record<string, unknown>

const refused = (code: string, message: string, metadata?: object): Answer => [
  400,
  { code, message, ...(metadata ? { metadata } : {}) },
]
const notFound = (message: string): Answer => [404, { code: 'document_not_found', message }]
const isAddress = (text: string): boolean =>
  /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text) && !text.startsWith('invalid')

export async function brevoStandIn(apiKey: string): Promise<BrevoStandIn> {
  let open = 0
  let ids = 0
  const processes = new Map<number, Process>()
  const reports = new Map<string, string>()
  const standIn: BrevoStandIn = {
    endpoint: '',
    contacts: new Map(),
    lists: new Map([[2, 'Main']]),
    consentGroups: null,
    imports: { asks: 2, end: 'completed' },
    attributes: new Map([
      ['FIRSTNAME', 'text'],
      ['LASTNAME', 'text'],
      ['SMS', 'text'],
      ['BACK_IN_STOCK', 'boolean'],
      ['VIP', 'boolean'],
    ]),
    requests: [],
    busiest: 0,
    faults: [],
    isDown: false,
    now: new Date(testsBeginAt).toISOString(),
    add(email, change = {}) {
      const { now } = standIn
      ids += 1
      const contact: StandInContact = {
        ...{ email: email.toLowerCase(), id: ids, emailBlacklisted: false, smsBlacklisted: false },
        ...{ createdAt: now, modifiedAt: now, listIds: [], listUnsubscribed: [], attributes: {} },
        ...change,
      }
      standIn.contacts.set(contact.email, contact)
      return contact
    },
    close() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
  const server = createServer(async (request, response) => {
    open += 1
    standIn.busiest = Math.max(standIn.busiest, open)
    response.on('close', () => {
      open -= 1
    })
    const body = await readBody(request)
    standIn.requests.push(`${request.method} ${request.url?.split('?')[0]}`)
    const fault = standIn.isDown ? { status: 503 } : standIn.faults.shift()
    if (fault === 'silence') return
    if (fault === 'drop') return void request.socket.destroy()
    if (request.url?.startsWith('/reports/')) {
      response.end(reports.get(request.url) ?? '')
      return
    }
    if (fault) return send(response, [fault.status, fault.body ?? {}], fault.headers)
    if (request.headers['api-key'] !== apiKey) {
      return send(response, [401, { message: 'Key not found', code: 'unauthorized' }])
    }
    send(response, answerTo(standIn, request, body, { processes, reports }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  standIn.endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return standIn
}

async function readBody(request: IncomingMessage): Promise<Body> {
  let text = ''
  for await (const chunk of request) text += chunk
  return text === '' ? {} : JSON.parse(text)
}

function send(response: ServerResponse, [status, body]: Answer, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(body === undefined ? '' : JSON.stringify(body))
}

function answerTo(
  standIn: BrevoStandIn,
  { method, url }: IncomingMessage,
  body: Body,
  imports: Imports,
): Answer {
  const { pathname, searchParams: query } = new URL(url!, 'http://stand-in')
  const [, , first, second, third, fourth] = pathname.split('/').map(decodeURIComponent)
  if (first === 'processes') {
    const found = imports.processes.get(Number(second))
    if (!found) return notFound('Process not found')
    found.asks += 1
    const isDone = found.asks > standIn.imports.asks
    const status = isDone ? standIn.imports.end : found.asks === 1 ? 'queued' : 'in_process'
    return [200, { id: found.id, name: found.name, status, ...(isDone ? { info: found.info } : {}) }]
  }
  if (first !== 'contacts') return notFound('Not found')
  if (second === 'consent-groups') {
    return standIn.consentGroups
      ? [
          200,
          { consentGroups: standIn.consentGroups, total: standIn.consentGroups.length, limit: 50, offset: 0 },
        ]
      : [403, { code: 'CONSENT_GROUP_NOT_ENABLED', message: 'Consent groups are not enabled' }]
  }
  if (second === 'import' && method === 'POST') return importAll(standIn, body, imports)
  if (second === 'batch') return notFound('Not found')
  if (method === 'GET' && second === undefined) return contacts(standIn, query)
  if (method === 'POST' && second === undefined) return create(standIn, body)
  if (method === 'GET' && second === 'attributes') {
    const attributes = [...standIn.attributes].map(([name, type]) => ({ name, type, category: 'normal' }))
    return [200, { attributes }]
  }
  if (second === 'lists') {
    if (third === undefined) return lists(standIn, query)
    const id = Number(third)
    if (!standIn.lists.has(id)) return notFound('List ID does not exist')
    if (method === 'GET' && fourth === undefined) return [200, { id, name: standIn.lists.get(id) }]
    return remove(standIn, id, body)
  }
  if (query.get('identifierType') !== 'email_id') return refused('invalid_parameter', 'Invalid identifier')
  if (!isAddress(second!)) return refused('invalid_parameter', 'Invalid email address')
  const contact = standIn.contacts.get(second!.toLowerCase())
  if (!contact) return notFound('Contact does not exist')
  return method === 'PUT' ? update(standIn, contact, body) : [200, contact]
}

function parsePage(query: URLSearchParams, atMost: number): { limit: number; offset: number } | null {
  const limit = Number(query.get('limit') ?? 50)
  return limit > atMost ? null : { limit, offset: Number(query.get('offset') ?? 0) }
}

function contacts(standIn: BrevoStandIn, query: URLSearchParams): Answer {
  const page = parsePage(query, 1000)
  if (!page) return refused('out_of_range', 'Limit exceeds max value')
  const since = query.get('modifiedSince') ?? ''
  const found = [...standIn.contacts.values()].filter(({ modifiedAt }) => modifiedAt >= since)
  return [200, { contacts: found.slice(page.offset, page.offset + page.limit), count: found.length }]
}

function lists(standIn: BrevoStandIn, query: URLSearchParams): Answer {
  const page = parsePage(query, 50)
  if (!page) return refused('out_of_range', 'Limit exceeds max value')
  const all = [...standIn.lists].map(([id, name]) => ({ id, name }))
  return [200, { lists: all.slice(page.offset, page.offset + page.limit), count: all.length }]
}

/** The error of invalid attributes, or null; attributes that the account lacks are ignored. */
function findAttributeError(standIn: BrevoStandIn, given: Body, email: string, doing: string): Answer | null {
  const { SMS: sms } = given as { SMS?: string }
  if (sms === undefined) return null
  if (!/^(\+|00)?[1-9]\d{7,14}$/.test(sms)) return refused('invalid_parameter', 'Invalid phone number')
  const other = [...standIn.contacts.values()].find(({ attributes }) => attributes.SMS === sms)
  if (!other || other.email === email) return null
  return refused(
    'duplicate_parameter',
    `Unable to ${doing} contact, SMS is already associated with another Contact`,
    { duplicate_identifiers: ['SMS'] },
  )
}

const known = (standIn: BrevoStandIn, given: Body): Body =>
  Object.fromEntries(
    Object.entries(given).filter(
      ([name, value]) =>
        standIn.attributes.has(name) &&
        (standIn.attributes.get(name) === 'boolean') === (typeof value === 'boolean'),
    ),
  )

function create(standIn: BrevoStandIn, body: Body): Answer {
  const {
    email: given = '',
    attributes = {},
    listIds = [],
    updateEnabled = false,
  } = body as {
    email?: string
    attributes?: Body
    listIds?: number[]
    updateEnabled?: boolean
  }
  const email = given.toLowerCase()
  if (!isAddress(email)) return refused('invalid_parameter', 'email is not valid in: body')
  if (!listIds.every((id) => standIn.lists.has(id))) return refused('invalid_parameter', 'Invalid list ids')
  const there = standIn.contacts.get(email)
  if (there && !updateEnabled) {
    return refused(
      'duplicate_parameter',
      'Unable to create contact, email is already associated with another Contact',
      { duplicate_identifiers: ['email'] },
    )
  }
  const fault = findAttributeError(standIn, attributes, email, 'create')
  if (fault) return fault
  if (there) return update(standIn, there, { attributes, listIds })
  const { id } = standIn.add(email, { attributes: known(standIn, attributes), listIds: [...listIds] })
  return [201, { id }]
}

function update(standIn: BrevoStandIn, contact: StandInContact, body: Body): Answer {
  const {
    attributes = {},
    listIds = [],
    emailBlacklisted,
  } = body as {
    attributes?: Body
    listIds?: number[]
    emailBlacklisted?: boolean
  }
  if (!listIds.every((id) => standIn.lists.has(id))) return refused('invalid_parameter', 'Invalid list ids')
  const fault = findAttributeError(standIn, attributes, contact.email, 'update')
  if (fault) return fault
  Object.assign(contact.attributes, known(standIn, attributes))
  contact.listIds = [...new Set([...contact.listIds, ...listIds])]
  contact.listUnsubscribed = contact.listUnsubscribed.filter((id) => !listIds.includes(id))
  if (emailBlacklisted !== undefined) contact.emailBlacklisted = emailBlacklisted
  contact.modifiedAt = standIn.now
  return [204]
}

function remove(standIn: BrevoStandIn, list: number, { emails = [] }: { emails?: string[] }): Answer {
  if (emails.length > 150) return refused('invalid_parameter', 'Only 150 emails can be passed at once')
  const on = emails.filter((email) => standIn.contacts.get(email.toLowerCase())?.listIds.includes(list))
  if (on.length === 0) {
    return refused('invalid_parameter', 'Contact already removed from list and/or does not exist')
  }
  for (const email of on) {
    const contact = standIn.contacts.get(email.toLowerCase())!
    contact.listIds = contact.listIds.filter((id) => id !== list)
    contact.modifiedAt = standIn.now
  }
  return [
    201,
    { contacts: { success: on, failure: emails.filter((email) => !on.includes(email)), total: on.length } },
  ]
}

/** Imports at once, but tells it later. People with an invalid address, or another's phone, are left out and reported. */
function importAll(standIn: BrevoStandIn, body: Body, { processes, reports }: Imports): Answer {
  const {
    jsonBody = [],
    listIds = [],
    consentGroupIds = [],
    updateExistingContacts = true,
  } = body as {
    jsonBody?: { email?: string; attributes?: Body }[]
    listIds?: number[]
    consentGroupIds?: number[]
    updateExistingContacts?: boolean
  }
  if (listIds.length === 0 || !listIds.every((id) => standIn.lists.has(id)))
    return refused('invalid_parameter', 'Invalid list ids')
  if (consentGroupIds.some((id) => !standIn.consentGroups?.some((group) => group.id === id)))
    return refused('invalid_parameter', 'Invalid consent group ids')
  const left: Record<string, string[]> = { invalid_emails: [], duplicate_phone_id: [] }
  for (const { email = '', attributes = {} } of jsonBody) {
    const there = standIn.contacts.get(email.toLowerCase())
    if (!isAddress(email)) left.invalid_emails!.push(email)
    else if (findAttributeError(standIn, attributes, email.toLowerCase(), 'import'))
      left.duplicate_phone_id!.push(String(attributes.SMS))
    else if (!there) create(standIn, { email, attributes, listIds })
    else if (updateExistingContacts) update(standIn, there, { attributes, listIds })
    const contact = standIn.contacts.get(email.toLowerCase())
    if (contact && consentGroupIds.length > 0)
      contact.consentGroups = consentGroupIds.map((id) => ({ id, status: 'subscribed' }))
  }
  const id = processes.size + 78
  const toReport = (name: string): string | null => {
    if (left[name]!.length === 0) return null
    const path = `/reports/${id}-${name}.csv`
    reports.set(path, `VALUE\n${left[name]!.join('\n')}\n`)
    return standIn.endpoint + path
  }
  const info = { import: Object.fromEntries(Object.keys(left).map((name) => [name, toReport(name)])) }
  processes.set(id, { id, name: 'IMPORTUSER', asks: 0, info })
  return [202, { processId: id }]
}
