/**
 * Whether gateways of tests answer plain reads ahead of their layers, as they do by default. CI runs all tests both ways:
 * with `PORTICO_TEST_ANSWER_AHEAD=off`, every read of every test goes through the layers.
 */
export const ANSWER_AHEAD = process.env['PORTICO_TEST_ANSWER_AHEAD'] !== 'off';
