/** Pictures and videos of merchants' tests, which lie nowhere: the browser is answered as by their host. */
import type { Page } from 'playwright-core'

const drawn = (colour: string): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="600" height="400"><rect width="600" height="400" fill="${colour}"/><circle cx="300" cy="200" r="120" fill="#fff"/></svg>`

const colours = ['#0f766e', '#9a3412', '#3730a3', '#166534', '#9d174d']

/** Two seconds of VP8, 48 by 84. */
const film = Buffer.from(
  [
    'GkXfo59ChoEBQveBAULygQRC84EIQoKEd2VibUKHgQRChYECGFOAZwEAAAAAAAOaEU2bdLlNu4tTq4QVSalmU6yBbk27i1OrhBZU',
    'rmtTrIGTTbuLU6uEH0O2dVOsgdRNu4xTq4QcU7trU6yCA4jsrgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
    'AAAAAAAAAAAVSalmoCrXsYMPQkBEiYREx+2yTYCGQ2hyb21lV0GGQ2hyb21lFlSua7yuuteBAXPFh++7nQ/4iqGDgQFV7oEBhoVW',
    'X1ZQOOCdsIEwuoFUU8CBAVWwkFWxgQFVuYECVbqBDVW7gQEfQ7Z1AQAAAAAAAqjngQCg4aGvgQAAABADAJ0BKjAAVAAJxwiFhYiZ',
    'hIg0ggAGZDwXRPeGgQID4AD+0ML/g2SKa7B1oa2mq+6BAaWmEAMAnQEqMABUAAqHCIWFiJmEiDgCAAZkN094aBAgQICQAP7rrgCg',
    'waGggQDHADECACcRiAAYABmn9AwACzFbAbVI/uUJHuT9EYB1oZmml+6BAaWS0QEAKhHAABgAGFgv9AAIlwAA+4EAoMahpYEBkQBx',
    'AgAnETwAGAnTyWUblHAEdVgCtfoA/twpih160tzbiAB1oZmml+6BAaWS0QEAKhHAABgAGFgv9AAIlwAA+4HHoMWho4ECVwBxAgAn',
    'ERgAGAzQyWUblHAEdVgCtfoA/usv30l0uLQAdaGZppfugQGlktEBACoRwAAYABhYL/QACJcAAPuCAZGgxqGkgQMfADECACcQ+AAY',
    'ABmn9AwACzFbAbVI/uG/kjf8V/Kr1lF4daGZppfugQGlktEBACoRwAAYABhYL/QACJcAAPuCAlegxaGjgQPoADECACcQ4AAYABmn',
    '9AwACzFbAbVI/u2PNOT4NkimuwB1oZmml+6BAaWS0QEAKhG8ABgAGFgv9AAIlwAA+4IDH6DHoaWBBK8AMQIAJxC8ABgAGaf0DAAL',
    'MVsBtUj+54klnf8W/aP72woAdaGZppfugQGlktEBACoRpAAYABhYL/QACJcAAPuCA+igxqGkgQWDADECACcQnAAYABmn9AwACzFb',
    'AbVI/vBStjA/X3lDsSYAdaGZppfugQGlktEBACoRaBRgAGFgv9AAIlwAAPuCBK+gzqGsgQY/AFECACcQfAAYABxH9AwAIA4uxcoK',
    'oP7svYOx7g//+Ur/43f7suAQGAB1oZmml+6BAaWS0QEAKhGgABgAGFgv9AAIlwAA+4IFgxxTu2uNu4uzgQC3hveBAfGB1A==',
  ].join(''),
  'base64',
)

/** Where videos are that play; those of `missing` do not. */
export const video = (name: string): string => `https://cdn.example.com/${name}.webm`

/** Where pictures are that load; those of `missing` do not. */
export const picture = (name: string): string => `https://cdn.example.com/${name}.png`

/** Answers for them, and for videos. */
export async function serveMedia(page: Page): Promise<void> {
  await page.route('https://cdn.example.com/**', (route) => {
    const path = new URL(route.request().url()).pathname
    if (path.includes('missing')) return route.fulfill({ contentType: 'image/png', body: '' })
    if (path.endsWith('.webm')) return route.fulfill({ contentType: 'video/webm', body: film })
    const colour = colours[path.length % colours.length]!
    return route.fulfill({ contentType: 'image/svg+xml', body: drawn(colour) })
  })
}
