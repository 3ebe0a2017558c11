/**
 * Holders: resources whose body may reference a product, category, template, list or file, with how to create, update
 * and remove them. Their bodies together fill every reference field.
 */
import type { Registry } from '#runtime/registry/loaded'
import { makeTemplate } from '#scripts/seed/connect-number'
import { byBody, byPath, storefrontHolders, twoItems } from './storefront-holders.ts'
import { conversation, type Holder, sender, type World } from './world.ts'

const buildTextMessage = (mediaUrl: string) => ({ text: 'Hi', mediaUrl, mediaType: 'image' })

export const holders: readonly Holder[] = [
  ...storefrontHolders,
  {
    name: 'the settings of stock alerts',
    touch: { allowPhones: false },
    update: 'post_stock_notifications_settings',
    full: async (at) => [{ templateEmail: { logo: await at.file() }, officialapiTemplateId: at.template }],
    without: { templateEmail: { logo: '' } },
  },
  {
    name: 'a campaign',
    create: 'post_campaigns',
    update: 'put_campaigns_by_id',
    remove: 'delete_campaigns_by_id',
    id: byPath,
    bare: (at) => ({ name: `Campaign ${at.next()}`, listId: at.list }),
    full: async (at) => [
      {
        name: `Campaign ${at.next()}`,
        listId: at.list,
        content: {
          type: 'template',
          officialapiTemplateId: at.template,
          media: { type: 'image', url: await at.file() },
        },
      },
    ],
    without: { content: { media: null } },
  },
  {
    name: 'an automation',
    create: 'post_automations',
    update: 'put_automations_by_id',
    remove: 'delete_automations_by_id',
    id: byPath,
    bare: () => ({ type: 'abandoned-cart' }),
    full: async (at) => [
      {
        type: 'abandoned-cart',
        message: { ...buildTextMessage(await at.file()), officialapiTemplateId: at.template },
        conditions: { productIds: ['1001'], excludedProductIds: ['1002'], categoryIds: [at.category] },
        flow: {
          start: 'wait',
          steps: [
            { id: 'wait', type: 'wait', minutes: 60, next: 'told' },
            {
              id: 'told',
              type: 'message',
              message: { ...buildTextMessage(await at.file()), officialapiTemplateId: at.template },
            },
          ],
        },
      },
    ],
  },
  {
    name: 'the settings of exchanges',
    touch: { windowDays: 9 },
    update: 'post_product_exchanges_settings',
    full: async (at) => [
      {
        excludedProductIds: ['1001'],
        excludedCategoryIds: [at.category],
        messaging: Object.fromEntries(
          ['requested', 'approved', 'addressChanged', 'received', 'completed', 'rejected', 'expired'].map(
            (event) => [event, { officialapiTemplateId: at.template }],
          ),
        ),
      },
    ],
  },
  {
    name: 'the settings of reviews',
    touch: { widget: { perPage: 5 } },
    update: 'post_product_reviews_settings',
    full: async (at) => [
      { email: { logoUrl: await at.file() }, message: { officialapiTemplateId: at.template } },
    ],
    without: { email: { logoUrl: null } },
  },
  {
    name: 'a testimonial',
    touch: { text: 'Better' },
    create: 'post_store_testimonials',
    update: 'put_store_testimonials',
    remove: 'delete_store_testimonials_by_id',
    id: byBody,
    bare: () => ({ authorName: 'Ana', text: 'Good' }),
    full: async (at) => [{ authorName: 'Ana', text: 'Good', photoUrl: await at.file() }],
    without: { photoUrl: null },
  },
  {
    name: 'the store',
    update: 'patch_store',
    full: async (at) => [{ logoUrl: await at.file() }],
    without: { logoUrl: null },
  },
  {
    name: 'the popup',
    touch: { isEnabled: false, texts: { title: 'Join us' } },
    update: 'post_newsletter_settings',
    full: async (at) => [
      { contactListId: at.list, design: { imageUrl: await at.file(), logoUrl: await at.file() } },
    ],
    without: { design: { imageUrl: null, logoUrl: null } },
  },
  {
    name: 'the preview of a popup',
    create: 'post_newsletter_preview',
    full: async (at) => [
      {
        settings: {
          contactListId: at.list,
          design: { imageUrl: await at.file(), logoUrl: await at.file() },
        },
      },
    ],
  },
  {
    name: 'the contact form',
    touch: { title: 'Write to us' },
    update: 'put_contact_form_settings',
    full: async (at) => [{ crmListId: at.list }],
  },
  {
    name: 'the sections of looks',
    touch: { title: 'Looks' },
    update: 'post_shop_the_look_settings',
    full: async (at) => {
      const body = { name: 'Look', imageUrl: 'https://a.example/a.png', items: twoItems }
      const { id } = (await at.shop.request('POST', '/shop-the-look/looks', { body })).body
      return [{ homeSections: [{ key: 'new', title: 'New', lookIds: [id] }] }]
    },
  },
  {
    name: 'a template',
    create: 'post_messaging_templates',
    remove: 'delete_messaging_templates_by_id',
    id: byPath,
    uploads: 'header',
    full: async (at) => [
      {
        name: `picture_${at.next()}`,
        language: 'en',
        category: 'marketing',
        body: 'Look at this.',
        header: { type: 'image', mediaUrl: await at.upload('header') },
      },
    ],
  },
  {
    name: 'a template, changed',
    touch: { footer: 'Bye' },
    update: 'patch_messaging_templates_by_id',
    remove: 'delete_messaging_templates_by_id',
    id: byPath,
    uploads: 'header',
    make: async (at) => {
      const of = { name: `changed_${at.next()}`, body: 'Look at this.' }
      return String(await makeTemplate(await at.shop.context(), of))
    },
    full: async (at) => [{ header: { type: 'image', mediaUrl: await at.upload('header') } }],
  },
  {
    name: 'a message of the team, with a file',
    create: 'post_messaging_send_message',
    connection: 'qr',
    full: async (at) => [{ phone: '+5511988887777', type: 'image', mediaUrl: await at.file() }],
  },
  {
    name: 'a message of the team, with a template',
    create: 'post_messaging_send_message',
    full: async (at) => [{ phone: '+5511988887777', officialapiTemplateId: at.template }],
  },
  {
    name: 'an answer kept for many',
    create: 'post_inbox_quick_replies',
    remove: 'delete_inbox_quick_replies_by_id',
    id: byPath,
    connection: 'inbox',
    uploads: 'inbox',
    full: async (at) => [{ shortcut: `a${at.next()}`, text: 'Here', mediaUrl: await at.upload('inbox') }],
  },
  {
    name: 'a message of the inbox, with a file',
    create: 'post_inbox_conversations_by_id_messages',
    connection: 'inbox',
    uploads: 'inbox',
    params: conversation,
    full: async (at) => [{ type: 'image', mediaUrl: await at.upload('inbox') }],
  },
  {
    name: 'a message of the inbox, with a template',
    create: 'post_inbox_conversations_by_id_messages',
    connection: 'inbox',
    params: conversation,
    full: async (at) => [{ type: 'template', officialapiTemplateId: at.template }],
  },
]

/** An existing resource, or a new one with as few references as possible; null if each store has exactly one. */
export async function ensureResource(registry: Registry, holder: Holder, at: World): Promise<string | null> {
  if (holder.make) return holder.make(at)
  if (!holder.bare) return null
  const { status, body } = await sender(at)(registry.byId(holder.create!)!, holder.bare(at))
  if (status !== 201 && status !== 200) throw new Error(`${holder.name}: ${JSON.stringify(body)}`)
  return body.id
}
