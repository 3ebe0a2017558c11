/** A foreign shop's product page with all of our widgets on, and its visitor. */
import type { BrowserContextOptions } from 'playwright-core'
import { openPage } from './browser.ts'
import { serveMedia } from './demo-media.ts'

export async function visitor(options: BrowserContextOptions = {}) {
  const opened = await openPage(options)
  // Headless browsers count as bots.
  const agent = 'Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0'
  await opened.page.setExtraHTTPHeaders({ 'user-agent': agent })
  await serveMedia(opened.page)
  return opened
}

export interface ForeignTheme {
  loader: string
  css?: string
  head?: string
  main?: string
}

/** A product page at `/products/:id`; any other path is not a product page. */
export function renderPage(path: string, { loader, css = '', head = '', main = '' }: ForeignTheme): string {
  const id = /products\/(\d+)/.exec(path)?.[1]
  const tag = id ? `data-page="product" data-product-id="${id}"` : 'data-page="other"'
  const product = id
    ? `<section data-product-id="${id}"><h1>Product ${id}</h1><p class="price">R$ 60,00</p>
      <form class="product-form"><button type="button">Buy</button></form>
      <div class="product-description">Good.</div></section>`
    : '<h1>Welcome</h1>'
  return `<!doctype html><html><head><title>Shop</title><link rel="icon" href="data:,">
    <style>body { margin: 0; font-family: monospace; color: rgb(1, 2, 3) } ${css}</style>${head}
    <script async ${tag} src="${loader}"></script></head>
    <body><header>Header</header><main>${product}${main}</main><footer>${'<p>Foot</p>'.repeat(20)}</footer></body></html>`
}

/**
 * Runs in the page: scrolls through it twice, so that every widget has been near the viewport. Observers run once per
 * frame, which a busy machine may draw late.
 */
export const seeAll = `(async () => {
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve))
  while (!document.querySelector('store-messaging-button')) await new Promise((resolve) => setTimeout(resolve, 50))
  for (let pass = 0; pass < 2; pass += 1) {
    for (let y = 0; y < document.documentElement.scrollHeight; y += 400) {
      scrollTo(0, y)
      await new Promise((resolve) => setTimeout(resolve, 120))
      await frame()
      await frame()
    }
  }
  scrollTo(0, 0)
})()`
