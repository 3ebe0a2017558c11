/** Pictures and videos of merchants' tests, which lie nowhere: the browser is answered as by their host. */
import type { Page } from 'playwright-core'

const drawn = (colour: string): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="600" height="400"><rect width="600" height="400" fill="${colour}"/><circle cx="300" cy="200" r="120" fill="#fff"/></svg>`

const colours = ['#0f766e', '#9a3412', '#3730a3', '#166534', '#9d174d']

/** Where pictures are that load; those of `missing` do not. */
export const picture = (name: string): string => `https://cdn.example.com/${name}.png`

export async function servePictures(page: Page): Promise<void> {
  await page.route('https://cdn.example.com/**', (route) => {
    const path = new URL(route.request().url()).pathname
    if (path.includes('missing')) return route.fulfill({ contentType: 'image/png', body: '' })
    const colour = colours[path.length % colours.length]!
    return route.fulfill({ contentType: 'image/svg+xml', body: drawn(colour) })
  })
}
