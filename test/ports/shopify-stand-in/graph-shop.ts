/** Webhooks and script tags of the shop in GraphQL form, with their mutations. */
import { gid } from './graph-objects.ts'
import type { GraphObject } from './graph-page.ts'
import type { Shop, StoredScript, StoredWebhook } from './shop.ts'

export const scriptObject = ({ id, src, created_at }: StoredScript): GraphObject => ({
  __typename: 'ScriptTag',
  id: gid('ScriptTag', id),
  src,
  createdAt: created_at,
})

export function deleteScript(shop: Shop, id: string) {
  const at = shop.scripts.findIndex((each) => gid('ScriptTag', each.id) === id)
  if (at === -1) {
    const userErrors = [{ field: ['id'], message: 'Script tag does not exist' }]
    return { deletedScriptTagId: null, userErrors }
  }
  shop.scripts.splice(at, 1)
  return { deletedScriptTagId: id, userErrors: [] }
}

const toGraphTopic = (topic: string): string => topic.replace('/', '_').toUpperCase()

export const webhookObject = ({ id, topic, address }: StoredWebhook): GraphObject => ({
  __typename: 'WebhookSubscription',
  id: gid('WebhookSubscription', id),
  topic: toGraphTopic(topic),
  uri: address,
})

/** The topics that deliveries name otherwise than GraphQL does. */
const topics = [
  'orders/create',
  'orders/updated',
  'orders/delete',
  'checkouts/create',
  'checkouts/update',
  'products/create',
  'products/update',
  'products/delete',
  'variants/in_stock',
  'variants/out_of_stock',
  'app/uninstalled',
]

export function createWebhook(
  shop: Shop,
  { topic, webhookSubscription }: { topic: string; webhookSubscription: { uri: string } },
) {
  const { uri: address } = webhookSubscription
  const refused = (message: string) => ({
    webhookSubscription: null,
    userErrors: [{ field: ['webhookSubscription', 'callbackUrl'], message }],
  })
  const name = topics.find((each) => toGraphTopic(each) === topic)
  if (name === undefined) throw new Error(`The stand-in does not know the topic ${topic}`)
  if (!address.startsWith('https://')) return refused('Address protocol http:// is not supported')
  if (shop.webhooks.some((each) => each.topic === name && each.address === address)) {
    return refused('Address for this topic has already been taken')
  }
  const webhook = { id: shop.nextId(), topic: name, address }
  shop.webhooks.push(webhook)
  return { webhookSubscription: webhookObject(webhook), userErrors: [] }
}
