/** A store with one resource of each kind that can be referenced, and calls of its operations. */

import { putCategories } from '#operations/store/ecommerce/sandbox-catalog'
import { files } from '#operations/store/index'
import type { LoadedOperation } from '#runtime/registry/loaded'
import { connectNumber, makeTemplate } from '#scripts/seed/connect-number'
import type { TestApp } from '#test/support/app'
import { withInbox } from '#test/support/inbox'
import { type ConnectedShop, connectedStore } from '#test/support/platform'

export type Body = Record<string, unknown>
/** Connection type of a store. */
export type Connection = 'official' | 'qr' | 'inbox'

/** A resource with references: how to create, update and remove it. */
export interface Holder {
  name: string
  /** Operation ids. */
  create?: string
  update?: string
  remove?: string
  /** Location of the id in update and remove: a path parameter or a body field. */
  id?: { in: 'params' | 'body'; as: string }
  /** Body with no or as few references as possible. */
  bare?: (world: World) => Body
  /** Creates the resource if `create` cannot, and returns its id. */
  make?: (world: World) => Promise<string>
  /** Bodies with references. */
  full: (world: World) => Promise<Body[]>
  /** Connection of the store; default `official`. */
  connection?: Connection
  /** Path parameters of `create`. */
  params?: (world: World) => Promise<Record<string, string>>
  /** Operation that creates upload links for its files; if omitted, any file of the store is accepted. */
  uploads?: string
  /** Changes a field without references; default `name`. */
  touch?: Body
  /** Update body that removes the file references; if omitted, the resource must be removed. */
  without?: Body
}

/** A store with one resource of each kind. */
export interface World {
  shop: ConnectedShop
  category: string
  template: number
  list: string
  /** URL of an uploaded picture. */
  file(): Promise<string>
  /** Uploads a picture through the link of an operation and returns its URL. */
  upload(operation: string): Promise<string>
  /** URL of an upload link that was not used. */
  promised(operation: string): Promise<string>
  /** A unique number. */
  next(): number
}

/** Paths of operations that create upload links. */
const uploads: Record<string, string> = {
  header: '/messaging/templates/header-media',
  inbox: '/inbox/media/upload-url',
}

const picture = { fileName: 'a.png', contentType: 'image/png', visibility: 'public' } as const

export async function world(
  app: TestApp,
  { connection = 'official' }: { connection?: Connection } = {},
): Promise<World> {
  const shop = await connectedStore(app)
  await putCategories(shop.platform, [{ id: '10', name: 'Cozinha' }])
  const ctx = await shop.context()
  if (connection === 'inbox') await withInbox(app, shop)
  else await connectNumber(ctx, { type: connection, phone: '+5511300000000' })
  const link = async (operation: string) => {
    const body = { fileName: 'a.png', contentType: 'image/png', size: 1 }
    const answer = await shop.request('POST', uploads[operation]!, { body })
    if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
    return answer.body
  }
  const template = await makeTemplate(ctx, { name: 'plain', body: 'Hello there.' })
  const list = await shop.request('POST', '/campaigns/lists', { body: { name: 'All' } })
  let made = 0
  return {
    shop,
    category: '10',
    template,
    list: list.body.id,
    next: () => {
      made += 1
      return made
    },
    upload: async (operation) => {
      const { uploadUrl, method, headers, fileUrl } = await link(operation)
      await app.fetch(new Request(uploadUrl, { method, headers, body: 'x' }), { ip: '127.0.0.1' })
      return fileUrl
    },
    promised: async (operation) => (await link(operation)).fileUrl,
    file: async () => (await files.put(ctx, 'inbox-media', { ...picture, content: Buffer.from('x') })).url,
  }
}

/** Creates a conversation by an inbound message. */
export async function conversation({ shop }: World): Promise<Record<string, string>> {
  const inbox = await withInbox(shop.app, shop, false)
  await inbox.write({ phone: '+5511977776666', text: 'Hello?' })
  return { id: (await inbox.conversation()).id }
}

type Send = (
  operation: LoadedOperation,
  body?: Body,
  params?: Record<string, string>,
) => ReturnType<ConnectedShop['request']>

/** Calls an operation of the store; fills the path parameters. */
export const sender =
  ({ shop }: World): Send =>
  ({ spec }, body, params = {}) =>
    shop.request(
      spec.method,
      spec.path.replace(/:([A-Za-z]+)/g, (_all, name: string) => encodeURIComponent(params[name] ?? 'none')),
      body === undefined ? {} : { body },
    )
