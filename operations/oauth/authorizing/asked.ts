/** What a client asks a merchant for: the query that it sends their browser with (RFC 6749, section 4.1.1). */

import type { SystemContext } from '#runtime/context'
import { minuteMs } from '#runtime/durations'
import { allScopes, type Scope } from '#runtime/roles'
import { seal, unseal } from '#runtime/secrets'
import type { Wording } from '#runtime/values/wording'
import { findClient } from '../clients/clients.ts'
import { isRegistered } from '../clients/redirects.ts'
import { OauthError } from '../errors.ts'
import { requireResource } from '../resource.ts'

export interface Asked {
  clientId: string
  /** As it calls itself. */
  name: string
  /** The host that answers for it, where its id is an address. */
  document: string | null
  redirectUri: string
  state: string | null
  /** Of PKCE, S256. */
  challenge: string
  scopes: Scope[]
}

/** What nobody can be sent back for: the merchant reads it. `detail` is for the client's developer. */
export class Astray extends Error {
  readonly wording: Wording
  constructor(wording: Wording, detail: string) {
    super(detail)
    this.wording = wording
  }
}

/** A refusal that the client is told by way of its own address. */
export class SentBack extends Error {
  readonly to: Pick<Asked, 'redirectUri' | 'state'>
  override readonly cause: OauthError
  constructor(to: Pick<Asked, 'redirectUri' | 'state'>, cause: OauthError) {
    super(cause.message)
    this.to = to
    this.cause = cause
  }
}

export const words = {
  unknown: {
    en: 'This server does not know the program that sent you here. Remove it from the assistant and add it again.',
    'pt-BR':
      'Este servidor não conhece o programa que enviou você até aqui. Remova-o do assistente e adicione-o de novo.',
    es: 'Este servidor no conoce el programa que te envió aquí. Quítalo del asistente y vuelve a añadirlo.',
  },
  elsewhere: {
    en: 'The program that sent you here wants the answer at an address that is not its own. Nothing was granted.',
    'pt-BR':
      'O programa que enviou você até aqui quer a resposta em um endereço que não é dele. Nada foi concedido.',
    es: 'El programa que te envió aquí quiere la respuesta en una dirección que no es suya. No se concedió nada.',
  },
  incomplete: {
    en: 'The address that led here is incomplete. Begin again in the assistant.',
    'pt-BR': 'O endereço que trouxe você até aqui está incompleto. Comece de novo no assistente.',
    es: 'La dirección que te trajo aquí está incompleta. Empieza de nuevo en el asistente.',
  },
  busy: {
    en: 'Too many requests came from your network. Wait a minute, then load this page again.',
    'pt-BR': 'Vieram solicitações demais da sua rede. Espere um minuto e carregue esta página de novo.',
    es: 'Llegaron demasiadas solicitudes desde tu red. Espera un minuto y vuelve a cargar esta página.',
  },
  late: {
    en: 'This page is too old, or was not opened here. Begin again in the assistant.',
    'pt-BR': 'Esta página é antiga demais ou não foi aberta aqui. Comece de novo no assistente.',
    es: 'Esta página es demasiado antigua o no se abrió aquí. Empieza de nuevo en el asistente.',
  },
} as const

const stateAtMost = 4096

/** Throws `Astray` until it is known where an answer may go, and `SentBack` from then on. */
export async function readAsked(ctx: SystemContext, given: URLSearchParams): Promise<Asked> {
  for (const name of new Set(given.keys())) {
    // Which of two would count is read differently by different programs.
    if (name !== 'resource' && given.getAll(name).length > 1)
      throw new Astray(words.incomplete, `${name}: must be given once`)
  }
  const { client, redirectUri } = await addressed(ctx, given)
  const state = given.get('state')
  if (state !== null && state.length > stateAtMost)
    throw new Astray(words.incomplete, `state: must have at most ${stateAtMost} characters`)
  try {
    return {
      clientId: client.id,
      name: client.name,
      document: client.document,
      redirectUri,
      state,
      ...wanted(given, ctx.settings.publicUrl),
    }
  } catch (error) {
    if (error instanceof OauthError) throw new SentBack({ redirectUri, state }, error)
    throw error
  }
}

async function addressed(ctx: SystemContext, given: URLSearchParams) {
  const id = given.get('client_id')
  const redirectUri = given.get('redirect_uri')
  if (!id) throw new Astray(words.incomplete, 'client_id: is required')
  if (!redirectUri) throw new Astray(words.incomplete, 'redirect_uri: is required')
  const client = await findClient(ctx, id).catch((error) => {
    if (error instanceof OauthError) throw new Astray(words.unknown, error.message)
    throw error
  })
  if (!client) throw new Astray(words.unknown, 'client_id: is not registered here')
  if (!isRegistered(client.redirectUris, redirectUri))
    throw new Astray(words.elsewhere, 'redirect_uri: is none that the client registered')
  return { client, redirectUri }
}

function wanted(given: URLSearchParams, publicUrl: string): Pick<Asked, 'challenge' | 'scopes'> {
  if (given.get('response_type') !== 'code')
    throw new OauthError('unsupported_response_type', 'response_type: must be code')
  if ((given.get('response_mode') ?? 'query') !== 'query')
    throw new OauthError('invalid_request', 'response_mode: must be query')
  if (given.has('request') || given.has('request_uri'))
    throw new OauthError('invalid_request', 'request: parameters are taken from the query alone')
  for (const resource of given.getAll('resource')) requireResource(resource, publicUrl)
  const challenge = given.get('code_challenge')
  if (challenge === null)
    throw new OauthError('invalid_request', 'code_challenge: is required (PKCE, RFC 7636)')
  // Left out it would mean plain, by which whoever sees the address has the verifier.
  if (given.get('code_challenge_method') !== 'S256')
    throw new OauthError('invalid_request', 'code_challenge_method: must be S256')
  if (!/^[A-Za-z0-9_-]{43}$/.test(challenge))
    throw new OauthError('invalid_request', 'code_challenge: must be 43 characters of base64url')
  return { challenge, scopes: scopesOf(given.get('scope')) }
}

/** Those of a client that names none are all; what is none of ours (offline_access, openid) is passed over. */
function scopesOf(text: string | null): Scope[] {
  const named = new Set((text ?? '').split(' ').filter(Boolean))
  if (named.size === 0) return [...allScopes]
  const known = allScopes.filter((scope) => named.has(scope))
  // The others are needed besides these, by themselves they open nothing.
  if (!known.some((scope) => scope.startsWith('platform:')))
    throw new OauthError('invalid_scope', 'scope: name platform:read or platform:write, and others besides')
  return known
}

const requestContext = 'oauth-request'
const requestForMs = 30 * minuteMs

/** Carries what was asked through the form: nobody else can read or make it. */
export const sealedAsked = (ctx: SystemContext, asked: Asked): string =>
  seal(ctx.settings, requestContext, { asked, until: ctx.clock.ms() + requestForMs })

/** Throws `Astray` for what is none of ours, or too old. */
export function openedAsked(ctx: SystemContext, sealed: string | undefined): Asked {
  return opened<{ asked: Asked; until: number }>(ctx, requestContext, sealed).asked
}

export function opened<T extends { until: number }>(
  ctx: SystemContext,
  context: string,
  sealed: string | undefined,
): T {
  try {
    const value = unseal(ctx.settings, context, sealed ?? '') as T
    if (ctx.clock.ms() < value.until) return value
  } catch {
    // It is told below: what is wrong with it is nobody's business.
  }
  throw new Astray(words.late, 'The form is too old, or none of ours')
}
