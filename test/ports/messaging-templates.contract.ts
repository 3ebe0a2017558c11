import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TemplateContent, TemplatePort } from '#operations/messaging/provider/template-port'
import type { ProviderStore } from '#runtime/ports/provider'

export interface TemplateSetting {
  port: TemplatePort
  store: ProviderStore
  setMode(mode: 'up' | 'down' | 'timeout'): Promise<void>
  close(): Promise<void>
}

let counter = 0
const aTemplate = (change: Partial<TemplateContent> = {}): TemplateContent => {
  counter += 1
  return {
    name: `greeting_${counter}`,
    language: 'pt_BR',
    category: 'utility',
    header: { type: 'text', text: 'Order {{1}}', mediaUrl: null },
    body: 'Hi {{1}}, it left today.',
    footer: 'Bye',
    buttons: [{ type: 'url', text: 'Track', url: 'https://a.example/{{1}}', phone: null }],
    examples: { header: ['7'], body: ['Ana'], buttons: ['x'] },
    ...change,
  }
}

/** What every messaging adapter does alike with templates. */
export function templateContract(name: string, open: () => Promise<TemplateSetting>): void {
  describe(`templates at the messaging port: ${name}`, () => {
    let setting: TemplateSetting
    beforeAll(async () => {
      setting = await open()
    })
    afterAll(() => setting.close())
    const listed = async () => {
      const { port, store } = setting
      const all = []
      let cursor: string | undefined
      do {
        const page = await port.listTemplates(store, cursor)
        all.push(...page.templates)
        cursor = page.next ?? undefined
      } while (cursor)
      return all
    }

    test('a new one is reviewed, and listed as it was handed in', async () => {
      const { port, store } = setting
      const template = aTemplate()
      const { providerId, status } = await port.createTemplate(store, template)
      expect(status).toBe('pending')
      expect((await listed()).find((each) => each.providerId === providerId)).toMatchObject({
        ...template,
        status: 'pending',
        rejectionReason: null,
      })
    })

    test('name and language are one template; another language is another', async () => {
      const { port, store } = setting
      const template = aTemplate()
      await port.createTemplate(store, template)
      await expect(port.createTemplate(store, template)).rejects.toMatchObject({
        name: 'Refused',
        code: 'template-exists',
      })
      await port.createTemplate(store, { ...template, language: 'en_US' })
    })

    test('a changed one is reviewed again', async () => {
      const { port, store } = setting
      const template = aTemplate()
      const { providerId } = await port.createTemplate(store, template)
      expect(await port.editTemplate(store, providerId, { ...template, footer: null })).toEqual({
        status: 'pending',
      })
      expect((await listed()).find((each) => each.providerId === providerId)).toMatchObject({ footer: null })
    })

    test('deleting takes one language, and what is gone is success', async () => {
      const { port, store } = setting
      const template = aTemplate()
      const { providerId } = await port.createTemplate(store, template)
      const other = await port.createTemplate(store, { ...template, language: 'en_US' })
      for (const _time of [1, 2]) await port.deleteTemplate(store, { name: template.name, providerId })
      const ids = (await listed()).map((each) => each.providerId)
      expect([ids.includes(providerId), ids.includes(other.providerId)]).toEqual([false, true])
      await expect(port.editTemplate(store, providerId, template)).rejects.toMatchObject({ name: 'Refused' })
    })

    test('more than a page is listed whole, each once', async () => {
      const { port, store } = setting
      const before = (await listed()).length
      for (let i = 0; i < 60; i += 1) await port.createTemplate(store, aTemplate())
      const ids = (await listed()).map((each) => each.providerId)
      expect(ids).toHaveLength(before + 60)
      expect(new Set(ids).size).toBe(ids.length)
    })

    test('down, it takes nothing; a lost answer is unknown, and was taken', async () => {
      const { port, store, setMode } = setting
      const template = aTemplate()
      await setMode('down')
      await expect(port.createTemplate(store, template)).rejects.toMatchObject({
        name: 'Unavailable',
        accepted: 'no',
      })
      await setMode('timeout')
      await expect(port.createTemplate(store, template)).rejects.toMatchObject({
        name: 'Unavailable',
        accepted: 'unknown',
      })
      await setMode('up')
      await expect(port.createTemplate(store, template)).rejects.toMatchObject({ code: 'template-exists' })
    })
  })
}
