/** Reads numbers of the Cloud API and maps their fields. */

import { readPages } from '#runtime/ports/pagination'
import { z } from '#runtime/schema'
import { toNameStatus, toNumberStatus, toQuality, toTier } from '../number-hooks.ts'
import type { NumberHealth, NumberIssue, OfficialState } from '../number-port.ts'
import { type GraphError, isAboutAccess } from './errors.ts'
import { type Graph, type GraphCall, GraphFailure } from './graph.ts'

const fields = [
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
]

const numberShape = z.object({
  id: z.string(),
  display_phone_number: z.string(),
  verified_name: z.string().nullish(),
  status: z.string().nullish(),
  name_status: z.string().nullish(),
  quality_rating: z.string().nullish(),
  throughput: z.object({ level: z.string() }).partial().nullish(),
  whatsapp_business_manager_messaging_limit: z.string().nullish(),
  is_on_biz_app: z.boolean().nullish(),
  platform_type: z.string().nullish(),
  last_onboarded_time: z.string().nullish(),
  health_status: z
    .object({
      can_send_message: z.string(),
      entities: z.array(
        z
          .object({ can_send_message: z.string(), errors: z.array(z.object({ error_code: z.number() })) })
          .partial(),
      ),
    })
    .partial()
    .nullish(),
})
export type PhoneNumber = z.infer<typeof numberShape>

export const toPhone = (number: PhoneNumber): string => `+${number.display_phone_number.replace(/\D/g, '')}`

/** Whether the WhatsApp Business app uses the number too: the signup connects it, and its rate is lower. */
export const isOnApp = (number: PhoneNumber): boolean => number.is_on_biz_app === true

/** Messages per second by throughput level; numbers shared with the app have a fixed rate. */
const ratesByThroughput: Readonly<Record<string, number>> = { STANDARD: 80, HIGH: 1_000 }
export const standardRate = ratesByThroughput.STANDARD!
export const appRate = 20

/**
 * Reads numbers. If the API rejects a field as unknown, later requests leave that field out: a single unknown field
 * makes the whole request fail.
 */
export class PhoneNumbers {
  readonly #graph: Graph
  readonly #unknown = new Set<string>()

  constructor(graph: Graph) {
    this.#graph = graph
  }

  /** Throws the API's own errors, like `Graph.ask`. */
  async ask(token: string, numberId: string): Promise<PhoneNumber> {
    return numberShape.parse(await this.#read((query) => ({ path: numberId, query, token })))
  }

  /** Throws the errors of the port. */
  async find(token: string, numberId: string): Promise<PhoneNumber> {
    try {
      return await this.ask(token, numberId)
    } catch (error) {
      throw this.#graph.failure(error, token)
    }
  }

  /** All numbers of an account, page by page; throws the errors of the port. */
  async ofAccount(token: string, accountId: string): Promise<PhoneNumber[]> {
    const path = `${accountId}/phone_numbers`
    const page = async (after: string | null) => {
      const query = { limit: '100', ...(after ? { after } : {}) }
      return pageShape.parse(await this.#read((asked) => ({ path, query: { ...query, ...asked }, token })))
    }
    const numbers: PhoneNumber[] = []
    try {
      const nextOf = ({ paging }: Page) => (paging?.next ? paging.cursors?.after : null)
      for await (const { data } of readPages<Page>(page, nextOf)) numbers.push(...data)
    } catch (error) {
      throw this.#graph.failure(error, token)
    }
    return numbers
  }

  async #read(callOf: (query: { fields: string }) => GraphCall): Promise<unknown> {
    for (;;) {
      const known = fields.filter((field) => !this.#unknown.has(field))
      try {
        return await this.#graph.ask(callOf({ fields: known.join(',') }))
      } catch (error) {
        const unknown = error instanceof GraphFailure ? parseUnknownField(error.graph) : null
        if (unknown === null || !known.includes(unknown)) throw error
        this.#unknown.add(unknown)
      }
    }
  }
}

const pageShape = z.object({
  data: z.array(numberShape),
  paging: z
    .object({ next: z.string(), cursors: z.object({ after: z.string() }).partial() })
    .partial()
    .nullish(),
})
type Page = z.infer<typeof pageShape>

/** Parses the field's name from `(#100) Tried accessing nonexisting field (is_on_biz_app) on node type (…)`. */
function parseUnknownField({ code, message }: GraphError): string | null {
  return code === 100 ? (/nonexisting field \((\w+)\)/i.exec(message)?.[1] ?? null) : null
}

export function toHealth(number: PhoneNumber): NumberHealth {
  return {
    qualityRating: toQuality(number.quality_rating) ?? 'unknown',
    numberStatus: toNumberStatus(number.status) ?? 'connected',
    messagingLimitTier: toTier(number.whatsapp_business_manager_messaging_limit) ?? 'tier-250',
    throughput: isOnApp(number)
      ? appRate
      : (ratesByThroughput[number.throughput?.level ?? ''] ?? standardRate),
  }
}

export function toState(number: PhoneNumber): OfficialState {
  const numberStatus = toNumberStatus(number.status) ?? 'connected'
  const displayNameStatus =
    number.name_status && number.name_status !== 'NONE' ? toNameStatus(number.name_status) : null
  const isSending =
    numberStatus === 'connected' || numberStatus === 'flagged' || numberStatus === 'restricted'
  const issue = toIssue(number, numberStatus, displayNameStatus, isSending)
  return {
    status: issue ? 'error' : isSending ? 'connected' : 'verifying',
    issue,
    phone: toPhone(number),
    displayName: number.verified_name ?? '',
    displayNameStatus,
  }
}

function toIssue(
  number: PhoneNumber,
  numberStatus: string,
  name: OfficialState['displayNameStatus'],
  isSending: boolean,
): NumberIssue | null {
  if (numberStatus === 'banned') return number.status === 'DELETED' ? 'number-removed' : 'account-restricted'
  if (numberStatus === 'offline') return 'number-removed'
  if (!isSending && name === 'declined') return 'display-name-declined'
  const { health_status: health } = number
  if (health?.can_send_message !== 'BLOCKED' || !isSending) return null
  const codes = (health.entities ?? []).flatMap((each) => each.errors?.map((error) => error.error_code) ?? [])
  return codes.some((code) => paymentErrors.has(code)) ? 'payment-issue' : 'account-restricted'
}

const paymentErrors = new Set([131042, 141006])

/** The number's issue that an API error reveals, or null. */
export function toIssueOfError(graph: GraphError): NumberIssue | null {
  if (isAboutAccess(graph)) return 'token-expired'
  if (graph.code === 33 || graph.code === 803 || (graph.code === 100 && graph.subcode === 33)) {
    return 'number-removed'
  }
  if (graph.code === 368 || graph.code === 131031) return 'account-restricted'
  return graph.code === 131042 ? 'payment-issue' : null
}
