/** Fake hosts for pictures and videos of merchants: the browser's requests are answered here. */
import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'

const drawPicture = (colour: string): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="600" height="400"><rect width="600" height="400" fill="${colour}"/><circle cx="300" cy="200" r="120" fill="#fff"/></svg>`

const colours = ['#0f766e', '#9a3412', '#3730a3', '#166534', '#9d174d']

/** A video of the demo. */
const film = await readFile(
  new URL('../../scripts/seed/media/aurora-supply/video-slider/film.webm', import.meta.url),
)

/** Addresses of playable videos; those in `missing` fail. */
export const video = (name: string): string => `https://cdn.example.com/${name}.webm`

/** Addresses of pictures that load; those in `missing` fail. */
export const picture = (name: string): string => `https://cdn.example.com/${name}.png`

/** Answers requests for pictures and videos. */
export async function serveMedia(page: Page): Promise<void> {
  await page.route('https://cdn.example.com/**', (route) => {
    const path = new URL(route.request().url()).pathname
    if (path.includes('missing')) return route.fulfill({ contentType: 'image/png', body: '' })
    if (path.endsWith('.webm')) return route.fulfill({ contentType: 'video/webm', body: film })
    const colour = colours[path.length % colours.length]!
    return route.fulfill({ contentType: 'image/svg+xml', body: drawPicture(colour) })
  })
}
