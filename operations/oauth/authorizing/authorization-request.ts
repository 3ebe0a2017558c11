/** The authorization request of a client: the query of the authorize page (RFC 6749, section 4.1.1). */

import type { SystemContext } from '#runtime/context'
import { minuteMs } from '#runtime/durations'
import { allScopes, type Scope } from '#runtime/roles'
import { seal, unseal } from '#runtime/secrets'
import type { Wording } from '#runtime/values/wording'
import { findClient } from '../clients/clients.ts'
import { isRegistered } from '../clients/redirects.ts'
import { OauthError } from '../errors.ts'
import { requireResource } from '../resource.ts'

export interface AuthorizationRequest {
  clientId: string
  /** The client's own name, unverified. */
  name: string
  /** The host of its metadata document, when its id is a URL. */
  document: string | null
  redirectUri: string
  state: string | null
  /** PKCE challenge, S256. */
  challenge: string
  scopes: Scope[]
}

/**
 * An error for which no safe redirect address is known, so it is shown to the merchant. `detail` is for the client's
 * developer.
 */
export class PageError extends Error {
  readonly wording: Wording
  constructor(wording: Wording, detail: string) {
    super(detail)
    this.wording = wording
  }
}

/** A refusal that is sent to the client by redirect. */
export class RedirectError extends Error {
  readonly to: Pick<AuthorizationRequest, 'redirectUri' | 'state'>
  override readonly cause: OauthError
  constructor(to: Pick<AuthorizationRequest, 'redirectUri' | 'state'>, cause: OauthError) {
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

const maxStateLength = 4096
/** The parameters of which one value counts; unknown ones are ignored (RFC 6749, 3.1). */
const givenOnce = [
  ...['client_id', 'redirect_uri', 'state', 'scope', 'response_type', 'response_mode'],
  ...['code_challenge', 'code_challenge_method', 'request', 'request_uri'],
]

/** Throws `PageError` until the redirect address is verified, and `RedirectError` after that. */
export async function parseAuthorizationRequest(
  ctx: SystemContext,
  sent: URLSearchParams,
): Promise<AuthorizationRequest> {
  // A parameter without a value counts as omitted (RFC 6749, section 3.1).
  const given = new URLSearchParams([...sent].filter(([, value]) => value !== ''))
  for (const name of givenOnce) {
    // Programs differ in which value they use if a parameter is given twice.
    if (given.getAll(name).length > 1) throw new PageError(words.incomplete, `${name}: must be given once`)
  }
  const { client, redirectUri } = await findClientAndRedirect(ctx, given)
  const state = given.get('state')
  if (state !== null && state.length > maxStateLength)
    throw new PageError(words.incomplete, `state: must have at most ${maxStateLength} characters`)
  try {
    return {
      clientId: client.id,
      name: client.name,
      document: client.document,
      redirectUri,
      state,
      ...parseGrantParameters(given, ctx.settings.publicUrl),
    }
  } catch (error) {
    if (error instanceof OauthError) throw new RedirectError({ redirectUri, state }, error)
    throw error
  }
}

async function findClientAndRedirect(ctx: SystemContext, given: URLSearchParams) {
  const id = given.get('client_id')
  const redirectUri = given.get('redirect_uri')
  if (!id) throw new PageError(words.incomplete, 'client_id: is required')
  if (!redirectUri) throw new PageError(words.incomplete, 'redirect_uri: is required')
  const client = await findClient(ctx, id).catch((error) => {
    if (error instanceof OauthError) throw new PageError(words.unknown, error.message)
    throw error
  })
  if (!client) throw new PageError(words.unknown, 'client_id: is not registered here')
  if (!isRegistered(client.redirectUris, redirectUri))
    throw new PageError(words.elsewhere, 'redirect_uri: must be one that the client registered')
  return { client, redirectUri }
}

function parseGrantParameters(
  given: URLSearchParams,
  publicUrl: string,
): Pick<AuthorizationRequest, 'challenge' | 'scopes'> {
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
  // The default is `plain`, which reveals the verifier to anyone who sees the URL.
  if (given.get('code_challenge_method') !== 'S256')
    throw new OauthError('invalid_request', 'code_challenge_method: must be S256')
  if (!/^[A-Za-z0-9_-]{43}$/.test(challenge))
    throw new OauthError('invalid_request', 'code_challenge: must be 43 characters of base64url')
  return { challenge, scopes: parseScopes(given.get('scope')) }
}

/** Parses the requested scopes: all scopes if none is named. Ignores unknown ones (offline_access, openid). */
function parseScopes(text: string | null): Scope[] {
  const named = new Set((text ?? '').split(' ').filter(Boolean))
  if (named.size === 0) return [...allScopes]
  const known = allScopes.filter((scope) => named.has(scope))
  // The other scopes allow nothing without a `platform:` scope.
  if (!known.some((scope) => scope.startsWith('platform:')))
    throw new OauthError('invalid_scope', 'scope: name platform:read or platform:write, and others besides')
  return known
}

const requestContext = 'oauth-request'
const requestLifetimeMs = 30 * minuteMs

/** Encrypts the request for a hidden field of the form, so that nobody can read or forge it. */
export const sealRequest = (ctx: SystemContext, asked: AuthorizationRequest): string =>
  seal(ctx.settings, requestContext, { asked, until: ctx.clock.ms() + requestLifetimeMs })

/** Decrypts the request of a form. Throws `PageError` for an expired form, or one that this server did not create. */
export function unsealRequest(ctx: SystemContext, sealed: string | undefined): AuthorizationRequest {
  return unsealForm<{ asked: AuthorizationRequest; until: number }>(ctx, requestContext, sealed).asked
}

export function unsealForm<T extends { until: number }>(
  ctx: SystemContext,
  context: string,
  sealed: string | undefined,
): T {
  try {
    const value = unseal(ctx.settings, context, sealed ?? '') as T
    if (ctx.clock.ms() < value.until) return value
  } catch {
    // The error below gives no details on purpose.
  }
  throw new PageError(words.late, 'The form has expired, or was not issued by this server')
}
