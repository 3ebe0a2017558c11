/** Clients: registered programs, and programs whose id is the URL of their metadata document. */

import type { SystemContext } from '#runtime/context'
import { z } from '#runtime/schema'
import { isId } from '#runtime/values/ids'
import { OauthError } from '../errors.ts'
import { isDocumentAddress, readDocument } from './document.ts'
import type { Client } from './metadata.ts'

const addresses = z.array(z.string())

/** Finds a client; null if there is none. Throws `OauthError` for a metadata document that cannot be used. */
export async function findClient(ctx: SystemContext, id: string): Promise<Client | null> {
  if (isDocumentAddress(id)) return readDocument(id)
  if (!isId(id)) return null
  const row = await ctx.root
    .selectFrom('oauth_clients')
    .select(['id', 'name', 'redirect_uris'])
    .where('id', '=', id)
    .executeTakeFirst()
  return row
    ? { id: row.id, name: row.name, redirectUris: addresses.parse(row.redirect_uris), document: null }
    : null
}

/**
 * Throws `invalid_client` for a registered client that is unknown, for example deleted after long disuse: clients then
 * register again. A client with a metadata document is known by its id alone.
 */
export async function requireClient(ctx: SystemContext, id: string): Promise<void> {
  if (isDocumentAddress(id) || (await findClient(ctx, id))) return
  throw new OauthError('invalid_client', 'client_id: is unknown here: register again at /oauth/register')
}

/** Stores a registered client. */
export async function register(ctx: SystemContext, client: Client): Promise<void> {
  await ctx.root
    .insertInto('oauth_clients')
    .values({
      id: client.id,
      name: client.name,
      redirect_uris: JSON.stringify(client.redirectUris),
      created_at: ctx.now(),
    })
    .execute()
}
