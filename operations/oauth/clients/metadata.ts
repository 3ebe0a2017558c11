/** What a client says of itself, when it registers or in its document (RFC 7591, section 2). */
import { z } from '#runtime/schema'
import { visible } from '#runtime/values/signs'
import { OauthError } from '../errors.ts'
import { placeOf, wrongWithRedirect } from './redirects.ts'

export interface Client {
  id: string
  /** As it calls itself: nobody has looked whether it is that. */
  name: string
  redirectUris: string[]
  /** The host of the document that its id is the address of; null for one that registered. */
  document: string | null
}

const words = z.array(z.string().max(100)).max(20)

/** What is known to nobody here is left out, as the RFC wants it; all clients are public ones and keep no secret. */
export const clientMetadata = z.object({
  client_name: z.string().max(200).optional(),
  redirect_uris: z.array(z.string().min(1).max(2000)).min(1).max(10),
  grant_types: words.optional(),
  response_types: words.optional(),
})

/** Refuses an address that nothing may be sent to, and a client that wants another way than codes. */
export function clientOf(id: string, given: z.infer<typeof clientMetadata>): Client {
  for (const [i, address] of given.redirect_uris.entries()) {
    const wrong = wrongWithRedirect(address)
    if (wrong) throw new OauthError('invalid_redirect_uri', `redirect_uris.${i}: ${wrong}`)
  }
  if (given.grant_types && !given.grant_types.includes('authorization_code')) {
    throw new OauthError('invalid_client_metadata', 'grant_types: must have authorization_code')
  }
  if (given.response_types && !given.response_types.includes('code')) {
    throw new OauthError('invalid_client_metadata', 'response_types: must have code')
  }
  const name = cut(visible((given.client_name ?? '').replace(breaks, ' ')).replaceAll('\u2800', ''), 80)
  return {
    id,
    name: name || placeOf(given.redirect_uris[0]!) || 'Assistant',
    redirectUris: given.redirect_uris,
    document: null,
  }
}

/** What is not seen, or turns the text around, would make one name look like another: it is gone, breaks are blanks. */
const breaks = /[\p{Cc}\p{Zl}\p{Zp}]+/gu

/** So many signs at most, none of them halved. */
export const cut = (text: string, atMost: number): string => [...text.trim()].slice(0, atMost).join('')
