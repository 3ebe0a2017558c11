/** Client metadata, from a registration or a document (RFC 7591, section 2). */

import { z } from '#runtime/schema'
import { stripInvisible } from '#runtime/values/confusables'
import { truncate } from '#runtime/values/truncate'
import { OauthError } from '../errors.ts'
import { describeRedirect, findRedirectIssue } from './redirects.ts'

export interface Client {
  id: string
  /** The client's own name, unverified. */
  name: string
  redirectUris: string[]
  /** The host of the client's metadata document; null for a registered client. */
  document: string | null
}

const words = z.array(z.string().max(100)).max(20)

/** Unknown fields are dropped, as the RFC requires. All clients are public and have no secret. */
export const clientMetadata = z.object({
  client_name: z.string().max(200).optional(),
  redirect_uris: z.array(z.string().min(1).max(2000)).min(1).max(10),
  grant_types: words.optional(),
  response_types: words.optional(),
})

export type ClientMetadata = z.infer<typeof clientMetadata>

/** Converts metadata to a client. Refuses an unsafe redirect address, and a client without the authorization code flow. */
export function toClient(id: string, given: ClientMetadata): Client {
  for (const [i, address] of given.redirect_uris.entries()) {
    const wrong = findRedirectIssue(address)
    if (wrong) throw new OauthError('invalid_redirect_uri', `redirect_uris.${i}: ${wrong}`)
  }
  if (given.grant_types && !given.grant_types.includes('authorization_code')) {
    throw new OauthError('invalid_client_metadata', 'grant_types: must have authorization_code')
  }
  if (given.response_types && !given.response_types.includes('code')) {
    throw new OauthError('invalid_client_metadata', 'response_types: must have code')
  }
  const name = truncateCharacters(
    stripInvisible((given.client_name ?? '').replace(breaks, ' ')).replaceAll('\u2800', ''),
    80,
  )
  return {
    id,
    name: name || describeRedirect(given.redirect_uris[0]!) || 'Assistant',
    redirectUris: given.redirect_uris,
    document: null,
  }
}

/** Line breaks become blanks; invisible and bidi characters are removed, since they make one name look like another. */
const breaks = /[\p{Cc}\p{Zl}\p{Zp}]+/gu

/** Truncates to `atMost` code points, without splitting a grapheme. */
export const truncateCharacters = (text: string, atMost: number): string => truncate(text.trim(), atMost)
