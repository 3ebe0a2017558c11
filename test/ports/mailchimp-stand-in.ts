/**
 * The part of Mailchimp's Marketing API that the adapter uses, in memory, behind real HTTP: lists, the batch of a list,
 * its members, and one member by the MD5 of the address. `mailchimp-facts.md` lists what it accepts and refuses.
 */
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { testsBeginAt } from '#test/support/test-clock'

export interface StandInMember {
  email_address: string
  status: string
  merge_fields: Record<string, string>
  tags: string[]
  /** When they unsubscribed, also reported by the activity of an archived member. */
  leftAt?: string
  /** They unsubscribed by an email's link: nobody else can undo it. */
  leftThemselves?: boolean
}

/** Injected into the next requests: a status, no answer, or a broken connection. */
type Fault = { status: number; headers?: Record<string, string>; body?: string } | 'silence' | 'drop'

export interface MailchimpStandIn {
  endpoint: string
  members: Map<string, StandInMember>
  /** Such as `POST /3.0/lists/main`. */
  requests: string[]
  bodies: unknown[]
  /** The highest number of parallel connections. */
  busiest: number
  faults: Fault[]
  isDown: boolean
  /** Fields of the audience that reject our values. */
  pickyFields: Set<string>
  close(): Promise<void>
}

const problem = (status: number, title: string, detail: string) =>
  [status, { type: 'https://mailchimp.com/developer/marketing/docs/errors/', title, status, detail }] as const

const toMemberKey = (address: string): string => createHash('md5').update(address.toLowerCase()).digest('hex')
const isAddress = (text: string): boolean =>
  /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text) && !text.toLowerCase().startsWith('invalid')

export async function mailchimpStandIn(apiKey: string, listId: string): Promise<MailchimpStandIn> {
  let open = 0
  const standIn: MailchimpStandIn = {
    endpoint: '',
    members: new Map(),
    requests: [],
    bodies: [],
    busiest: 0,
    faults: [],
    isDown: false,
    pickyFields: new Set(),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
  const expected = `Basic ${Buffer.from(`key:${apiKey}`).toString('base64')}`
  const server = createServer(async (request, response) => {
    open += 1
    standIn.busiest = Math.max(standIn.busiest, open)
    response.on('close', () => {
      open -= 1
    })
    const body = await readBody(request)
    standIn.requests.push(`${request.method} ${request.url?.split('?')[0]}`)
    standIn.bodies.push(body)
    const fault = standIn.isDown ? { status: 503 } : standIn.faults.shift()
    if (fault) return fail(fault, response)
    const [status, answer] =
      request.headers.authorization === expected
        ? answerTo(standIn, listId, request, body)
        : problem(
            401,
            'API Key Invalid',
            "Your API key may be invalid, or you've attempted the wrong datacenter.",
          )
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(answer === null ? '' : JSON.stringify(answer))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  standIn.endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return standIn
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  let text = ''
  for await (const chunk of request) text += chunk
  return text === '' ? null : JSON.parse(text)
}

function fail(fault: Fault, response: ServerResponse): void {
  if (fault === 'silence') return
  if (fault === 'drop') {
    response.socket?.destroy()
    return
  }
  response.writeHead(fault.status, fault.headers ?? {}).end(fault.body ?? '')
}

type Answer = readonly [status: number, body: unknown]

function answerTo(
  standIn: MailchimpStandIn,
  listId: string,
  request: IncomingMessage,
  body: unknown,
): Answer {
  const url = new URL(request.url!, 'http://stand-in')
  if (request.method === 'GET' && url.pathname === '/3.0/lists') {
    return [200, { lists: [{ id: listId, name: 'Main' }], total_items: 1 }]
  }
  const [, , , list, members, hash, part] = url.pathname.split('/')
  if (list !== listId) return problem(404, 'Resource Not Found', 'The requested resource could not be found.')
  if (request.method === 'POST' && members === undefined) return batch(standIn, body as Batch)
  if (request.method === 'PUT') return put(standIn, hash!, body as Put)
  if (request.method === 'GET' && hash === undefined) return listed(standIn, url.searchParams)
  const member = standIn.members.get(hash!)
  if (!member) return problem(404, 'Resource Not Found', 'The requested resource could not be found.')
  if (request.method === 'POST' && part === 'tags') return tag(member, body as Tags)
  if (request.method === 'GET' && part === 'activity-feed') return activity(member, url.searchParams)
  if (request.method === 'PATCH') return put(standIn, hash!, body as Put)
  return [200, member]
}

interface Tags {
  tags: { name: string; status: 'active' | 'inactive' }[]
}

function tag(member: StandInMember, { tags }: Tags): Answer {
  const active = tags.filter(({ status }) => status === 'active').map(({ name }) => name)
  member.tags = [...new Set([...member.tags, ...active])]
  return [204, null]
}

function activity({ leftAt }: StandInMember, query: URLSearchParams): Answer {
  if (query.get('activity_filters') !== 'unsub') return problem(400, 'Bad Request', 'Unknown filter.')
  return [200, { activity: leftAt ? [{ activity_type: 'unsub', created_at_timestamp: leftAt }] : [] }]
}

function listed(standIn: MailchimpStandIn, query: URLSearchParams): Answer {
  const status = query.get('status')
  const since = query.get('unsubscribed_since')
  if (since !== null && status !== 'unsubscribed') {
    return problem(400, 'Bad Request', 'unsubscribed_since needs the status unsubscribed.')
  }
  const count = Number(query.get('count') ?? 10)
  if (count > 1000) return problem(400, 'Invalid Resource', 'count must be at most 1000.')
  const found = [...standIn.members.values()].filter(
    (member) => member.status === status && (member.leftAt ?? '') >= (since ?? ''),
  )
  const offset = Number(query.get('offset') ?? 0)
  return [200, { members: found.slice(offset, offset + count), total_items: found.length }]
}

interface Batch {
  update_existing: boolean
  members: { email_address: string; status: string; merge_fields?: Record<string, string>; tags?: string[] }[]
}

function batch(standIn: MailchimpStandIn, { members, update_existing }: Batch): Answer {
  if (members.length > 500) return problem(400, 'Bad Request', 'Batch size may not exceed 500 members.')
  const new_members: StandInMember[] = []
  const updated_members: StandInMember[] = []
  const errors: object[] = []
  for (const { email_address, status, merge_fields = {}, tags = [] } of members) {
    const error = (text: string, error_code: string) =>
      errors.push({ email_address, error: text, error_code })
    const known = standIn.members.get(toMemberKey(email_address))
    if (!isAddress(email_address)) {
      error('Please provide a valid email address.', 'ERROR_GENERIC')
    } else if (known?.status === 'forgotten') {
      error(
        `${email_address} was permanently deleted and cannot be re-imported. The contact must re-subscribe to get back on the list.`,
        'ERROR_GENERIC',
      )
    } else if (known && !update_existing) {
      error(`${email_address} is already a list member. Do you want to update?`, 'ERROR_CONTACT_EXISTS')
    } else if (Object.keys(merge_fields).some((field) => standIn.pickyFields.has(field))) {
      error('Your merge fields were invalid.', 'ERROR_GENERIC')
    } else {
      const member = {
        email_address,
        status,
        merge_fields: { ...known?.merge_fields, ...merge_fields },
        tags,
      }
      standIn.members.set(toMemberKey(email_address), member)
      ;(known ? updated_members : new_members).push(member)
    }
  }
  return [
    200,
    {
      new_members,
      updated_members,
      errors,
      total_created: new_members.length,
      total_updated: updated_members.length,
      error_count: errors.length,
    },
  ]
}

interface Put {
  email_address?: string
  status?: string
  status_if_new?: string
  merge_fields?: Record<string, string>
}

function put(standIn: MailchimpStandIn, hash: string, given: Put): Answer {
  const { email_address = '', status, status_if_new, merge_fields = {} } = given
  const known = standIn.members.get(hash)
  if (!known && !isAddress(email_address)) {
    return problem(400, 'Invalid Resource', 'Please provide a valid email address.')
  }
  if (known?.status === 'forgotten') {
    return problem(400, 'Forgotten Email Not Subscribed', `${email_address} was permanently deleted.`)
  }
  if (known?.status === 'compliance' || (known?.leftThemselves && status === 'subscribed')) {
    return problem(
      400,
      'Member In Compliance State',
      `${email_address} is in a compliance state due to unsubscribe, bounce, or compliance review and cannot be subscribed.`,
    )
  }
  if (Object.keys(merge_fields).some((field) => standIn.pickyFields.has(field))) {
    return problem(400, 'Invalid Resource', 'Your merge fields were invalid.')
  }
  const member = {
    email_address: known?.email_address ?? email_address,
    status: known ? (status ?? known.status) : (status_if_new ?? 'subscribed'),
    merge_fields: { ...known?.merge_fields, ...merge_fields },
    tags: known?.tags ?? [],
    ...(known?.leftAt ? { leftAt: known.leftAt } : {}),
    ...(known?.leftThemselves ? { leftThemselves: true } : {}),
    ...(status === 'unsubscribed' ? { leftAt: new Date(testsBeginAt).toISOString() } : {}),
  }
  standIn.members.set(hash, member)
  return [200, member]
}
