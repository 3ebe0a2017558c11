/** An edit that the provider has accepted is not undone, whatever fails here afterwards. */
import { expect, test, vi } from 'vitest'
import { ConnectionLost } from '#db/deadlines'
import createAutomation from '#operations/automations/definitions/api/create-automation'
import createTemplate from '#operations/messaging/templates/api/create-template'
import getTemplate from '#operations/messaging/templates/api/get-template'
import updateTemplate from '#operations/messaging/templates/api/update-template'
import { Context } from '#runtime/context'
import { connectNumber } from '#scripts/seed/connect-number'
import { testApp } from '#test/support/app'
import { store } from '#test/support/store'

const app = await testApp()

test('an edit that the provider accepted and whose record was lost ends as at the provider', async () => {
  await app.setClock('2026-11-20T12:00:00.000Z')
  const shop = await store(app)
  await connectNumber(await shop.context(), { type: 'official', phone: '+551140001010' })
  const greeting = {
    name: 'greeting',
    language: 'pt_BR',
    category: 'utility',
    body: 'Hi {{1}}, order {{2}} left today.',
    examples: { body: ['Ana', '1001'] },
  }
  const { id } = (await shop.call(createTemplate, { body: greeting })).body
  await app.advance(60_000)
  await app.drainJobs()
  const message = { officialapiTemplateId: id, templateParameters: { body: ['a', 'b'] } }
  const used = { type: 'order-paid', name: 'Paid', isActive: true, message }
  expect((await shop.call(createAutomation, { body: used })).status).toBe(201)
  await app.advance(25 * 3_600_000)
  await app.drainJobs()

  const port = app.services.adapters.messaging.sandbox!
  const editThere = port.editTemplate.bind(port)
  const { transaction } = Context.prototype
  vi.spyOn(port, 'editTemplate').mockImplementationOnce(async (...given) => {
    const answer = await editThere(...given)
    vi.spyOn(Context.prototype, 'transaction').mockImplementationOnce(async () => {
      throw new ConnectionLost('The connection was lost')
    })
    return answer
  })
  const change = { body: 'Hi {{1}}, it left.', examples: { body: ['Ana'] } }
  const params = { id: String(id) }
  const edited = await shop.call(updateTemplate, { params, body: change })
  vi.restoreAllMocks()
  expect(Context.prototype.transaction).toBe(transaction)
  expect(edited.status).toBe(503)
  const there = (await port.listTemplates({ id: shop.id, credentials: null })).templates
  expect(there.map(({ body, status }) => [body, status])).toEqual([[change.body, 'pending']])
  expect((await shop.call(getTemplate, { params })).body).toMatchObject({
    body: change.body,
    status: 'pending',
  })
})
