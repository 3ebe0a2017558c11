/** Every sender of a template fills in all its placeholders: a mismatch is refused on selection, and notified if the template changes. */
import { describe, expect, test } from 'vitest'
import { makeTemplate } from '#scripts/seed/connect-number'
import { testApp } from '#test/support/app'
import { type World, world } from '../registry/world.ts'

const app = await testApp({ publicUrl: 'https://api.example.com' })

interface Sender {
  name: string
  connection?: 'inbox'
  /** Selects the template, with parameters for a body with one placeholder if given. Returns the error. */
  choose(at: World, template: number, body?: string[]): Promise<[status: number, message: string | undefined]>
  /** The sender's name in the notification; null: nothing remains that would send it later. */
  notice: string | null
  /** The smallest number of placeholders that it cannot fill in. */
  misfit: string
}

const write = async (
  { shop }: World,
  method: string,
  path: string,
  body: object,
): Promise<{ status: number; body: { id: string; error?: { message: string } } }> =>
  shop.request(method, path, { body }) as never
const refusal = ({ status, body }: Awaited<ReturnType<typeof write>>): [number, string | undefined] => [
  status,
  body?.error?.message,
]
const message = (officialapiTemplateId: number, body: string[] = ['Ana']) => ({
  officialapiTemplateId,
  templateParameters: { body },
})
const four = 'Hi {{1}}, {{2}}, {{3}} and {{4}}, bye.'
const two = 'Hi {{1}}, it is {{2}} now.'

const senders: Sender[] = [
  {
    name: 'a campaign',
    async choose(at, template, body) {
      const content = { type: 'template', ...message(template, body) }
      const made = await write(at, 'POST', '/campaigns', { name: 'Sale', listId: at.list, content })
      if (made.status === 201) {
        await at.shop.request('POST', `/campaigns/lists/${at.list}/contacts`, {
          body: { phone: '+5511988887777' },
        })
        await write(at, 'POST', `/campaigns/${made.body.id}/schedule`, { scheduledAt: '2027-06-01T10:00' })
      }
      return refusal(made)
    },
    notice: 'the campaign Sale',
    misfit: two,
  },
  {
    name: 'the first message of an automation',
    async choose(at, template, body) {
      const of = { type: 'abandoned-cart', name: 'Cart', isActive: true, message: message(template, body) }
      return refusal(await write(at, 'POST', '/automations', of))
    },
    notice: 'the automation Cart',
    misfit: two,
  },
  {
    name: 'a step of an automation',
    async choose(at, template, body) {
      const steps = [
        { id: 'wait', type: 'wait', minutes: 60, next: 'told' },
        { id: 'told', type: 'message', message: message(template, body) },
      ]
      const of = { type: 'abandoned-cart', name: 'Cart', isActive: true, flow: { start: 'wait', steps } }
      return refusal(await write(at, 'POST', '/automations', of))
    },
    notice: 'the automation Cart',
    misfit: two,
  },
  {
    name: 'stock alerts',
    choose: async (at, officialapiTemplateId) =>
      refusal(
        await write(at, 'POST', '/stock-notifications/settings', { isEnabled: true, officialapiTemplateId }),
      ),
    notice: 'the stock alerts',
    misfit: four,
  },
  {
    name: 'review requests',
    choose: async (at, officialapiTemplateId) =>
      refusal(await write(at, 'POST', '/product-reviews/settings', { message: { officialapiTemplateId } })),
    notice: 'review requests',
    misfit: four,
  },
  {
    name: 'exchanges',
    choose: async (at, officialapiTemplateId) =>
      refusal(
        await write(at, 'POST', '/product-exchanges/settings', {
          messaging: { approved: { officialapiTemplateId } },
        }),
      ),
    notice: 'messages about exchanges',
    misfit: four,
  },
  {
    name: 'a single message',
    choose: async (at, template, body) =>
      refusal(
        await write(at, 'POST', '/messaging/send-message', {
          phone: '+5511988887777',
          ...message(template, body),
        }),
      ),
    notice: null,
    misfit: two,
  },
  {
    name: 'the inbox',
    connection: 'inbox',
    async choose(at, template, body) {
      const phone = '+5511977776666'
      await write(at, 'POST', '/messaging/send-message', { phone, officialapiTemplateId: at.template })
      const { body: all } = await at.shop.request('GET', '/inbox/conversations')
      const of = { type: 'template', ...message(template, body) }
      return refusal(await write(at, 'POST', `/inbox/conversations/${all.data[0].id}/messages`, of))
    },
    notice: null,
    misfit: two,
  },
]

describe.each(senders.map((each) => [each.name, each] as const))('%s', (_name, sender) => {
  test('too few parameters are refused on selection, naming the field', async () => {
    const at = await world(app, sender)
    const ctx = await at.shop.context()
    const template = await makeTemplate(ctx, { name: 'misfit', body: sender.misfit })
    const [status, why] = await sender.choose(at, template)
    expect([status, why]).toEqual([
      400,
      expect.stringMatching(/(templateParameters\.body|officialapiTemplateId): the template /),
    ])
  })

  test('a coupon without a value is refused', async () => {
    const at = await world(app, sender)
    const buttons = [{ type: 'coupon-code', text: null, url: null, phone: null }]
    const template = await makeTemplate(await at.shop.context(), {
      name: 'coupon',
      body: 'Hi {{1}}.',
      buttons,
    })
    const [status, why] = await sender.choose(at, template)
    expect([status, why]).toEqual([
      400,
      expect.stringMatching(/(templateParameters\.buttons|officialapiTemplateId): the template /),
    ])
  })

  test('the merchant is notified if the template changes its placeholders', async () => {
    if (sender.notice === null) return
    const at = await world(app, sender)
    const template = await makeTemplate(await at.shop.context(), { name: 'fits', body: 'Hi {{1}} there.' })
    expect(await sender.choose(at, template)).toEqual([expect.toBeOneOf([200, 201]), undefined])
    const examples = { body: ['a', 'b', 'c', 'd'].slice(0, sender.misfit === four ? 4 : 2) }
    const changed = await write(at, 'PATCH', `/messaging/templates/${template}`, {
      body: sender.misfit,
      examples,
    })
    expect(refusal(changed)).toEqual([200, undefined])
    const { body } = await at.shop.request('GET', '/notifications', { query: { type: 'template-changed' } })
    expect(body.data.map((each: { message: string }) => each.message)).toEqual([
      expect.stringContaining(`used by ${sender.notice} `),
    ])
  })
})
