/** The merchant's pages in a real browser: no scripts, readable on a phone, redirect to a local program. */
import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { hasChromium, openPage, servedApp } from '#test/support/browser'
import { whenFileEnds } from '#test/support/closing'
import { expectAccessible } from '#test/support/demo-shop'
import { store } from '#test/support/store'

describe.skipIf(!hasChromium)('connecting an assistant', () => {
  test('key, choice and redirect with a code; a wrong key is shown', async () => {
    const { app, url } = await servedApp()
    const shop = await store(app, { locale: 'pt-BR' })
    const called: string[] = []
    const program = createServer((request, response) => {
      called.push(request.url!)
      // Like programs that show a page for it.
      if (request.url!.startsWith('/callback')) response.writeHead(302, { location: '/done' }).end()
      else response.end('<p>Connected</p>')
    })
    await new Promise<void>((done) => program.listen(0, '127.0.0.1', done))
    whenFileEnds(async () => {
      program.closeAllConnections()
      await new Promise((done) => program.close(done))
    })
    const back = `http://127.0.0.1:${(program.address() as AddressInfo).port}/callback`
    // Registered without the current port.
    const registered = await fetch(`${url}/oauth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ client_name: 'Helper', redirect_uris: ['http://127.0.0.1/callback'] }),
    })
    const { client_id: clientId } = (await registered.json()) as { client_id: string }
    const verifier = 'v'.repeat(43)
    const query = new URLSearchParams({
      response_type: 'code',
      client_id: clientId,
      redirect_uri: back,
      state: 'mine',
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    })

    const { page, faults, asked } = await openPage()
    await page.setViewportSize({ width: 360, height: 640 })
    const fits = async () =>
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    await page.goto(`${url}/oauth/authorize?${query}`)
    expect(await page.locator('main h1').textContent()).toBe('Connect Helper')
    await expectAccessible(page)
    await fits()

    await page.getByLabel('API key of your store').fill('mk_live_wrong')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').waitFor()
    expect(await page.getByLabel('API key of your store').inputValue()).toBe('')
    await expectAccessible(page)
    // The browser logs every failed response to its console.
    expect(faults.splice(0)).toEqual([expect.stringContaining('400')])

    await page.getByLabel('API key of your store').fill(shop.key)
    await page.getByRole('button', { name: 'Continue' }).click()
    // From here on in the language of the store.
    await page.getByRole('heading', { name: /O que Helper pode fazer em Shop/ }).waitFor()
    await expectAccessible(page)
    await fits()
    expect(await page.getByRole('checkbox', { name: /Ver:/ }).isChecked()).toBe(true)
    expect(await page.getByRole('checkbox', { name: /Alterar: / }).isChecked()).toBe(false)

    await page.getByRole('checkbox', { name: /Enviar mensagens/ }).check()
    await page.getByRole('button', { name: 'Permitir' }).click()
    await page.getByRole('alert').waitFor()
    expect(faults.splice(0)).toEqual([expect.stringContaining('400')])
    await page.getByRole('checkbox', { name: /Alterar: / }).check()
    await page.getByRole('button', { name: 'Permitir' }).click()
    await page.getByText('Connected').waitFor()

    const [answer] = called
    const { searchParams } = new URL(answer!, back)
    expect([searchParams.get('state'), searchParams.get('iss')]).toEqual(['mine', url])
    expect([...asked, ...called].join(' ')).not.toContain(shop.key)
    const token = await fetch(`${url}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'authorization_code',
        client_id: clientId,
        code: searchParams.get('code')!,
        redirect_uri: back,
        code_verifier: verifier,
      }),
    })
    expect(await token.json()).toMatchObject({ scope: 'platform:read platform:write messages:send' })

    // Asked again, the merchant sees what it has and what would be new.
    await page.goto(`${url}/oauth/authorize?${query}`)
    await page.getByLabel('API key of your store').fill(shop.key)
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByText('Helper já está conectado a').waitFor()
    await expectAccessible(page)
    await fits()
    for (const [name, isChecked] of [
      [/Ver:.* já permitido$/, true],
      [/Enviar mensagens.* já permitido$/, true],
      [/Convidar.* novo$/, false],
    ] as const)
      expect(await page.getByRole('checkbox', { name }).isChecked()).toBe(isChecked)
    await page.getByRole('button', { name: 'Negar' }).click()
    await page.getByText('Connected').waitFor()
    expect(new URL(called.at(-2)!, back).searchParams.get('error')).toBe('access_denied')
    expect(faults).toEqual([])
  })
})
