/** A store in which there is one of each kind of thing that something may name, and how its operations are called. */
import { files } from '#operations/store/door'
import { putCategories } from '#operations/store/ecommerce/sandbox-catalog'
import type { LoadedOperation } from '#runtime/registry/loaded'
import { connectNumber, makeTemplate } from '#scripts/seed/connect-number'
import type { TestApp } from '#test/support/app'
import { withInbox } from '#test/support/inbox'
import { type ConnectedShop, connectedStore } from '#test/support/platform'

export type Body = Record<string, unknown>
/** How a store sends. */
export type Connection = 'official' | 'qr' | 'inbox'

/** What names something: how it is made, changed and taken away. */
export interface Holder {
  name: string
  /** Ids of operations. */
  create?: string
  update?: string
  remove?: string
  /** Where the operations that change it are told which: a parameter of the path, or a field of the body. */
  id?: { in: 'params' | 'body'; as: string }
  /** Makes one that names nothing, or as little as it may. */
  bare?: (world: World) => Body
  /** Makes it where `create` cannot, or is not what makes it as it must be; answers its id. */
  make?: (world: World) => Promise<string>
  /** Bodies that name things. */
  full: (world: World) => Promise<Body[]>
  /** How the store sends; `official` unless said. */
  connection?: Connection
  /** Of the path of `create`. */
  params?: (world: World) => Promise<Record<string, string>>
  /** Which operation gives links for its files; left out: any file of the store will do. */
  uploads?: string
  /** Another value of a field that names nothing; `name` unless said. */
  touch?: Body
  /** A body of the update after which it names no file any more; left out: it must be removed. */
  without?: Body
}

/** A store in which there is one of each kind of thing. */
export interface World {
  shop: ConnectedShop
  category: string
  template: number
  list: string
  /** A picture in our storage, uploaded. */
  file(): Promise<string>
  /** One that was uploaded by the link that an operation gives; answers its address. */
  upload(operation: string): Promise<string>
  /** The address of such a link, that nothing was uploaded to. */
  promised(operation: string): Promise<string>
  /** A name, or a number, that was not there before. */
  next(): number
}

/** Operations that give a link to upload one picture to, by their paths. */
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

/** Somebody wrote to the store just now. */
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

/** Calls an operation of the store; parameters stand in its path. */
export const sender =
  ({ shop }: World): Send =>
  ({ spec }, body, params = {}) =>
    shop.request(
      spec.method,
      spec.path.replace(/:([A-Za-z]+)/g, (_all, name: string) => encodeURIComponent(params[name] ?? 'none')),
      body === undefined ? {} : { body },
    )
