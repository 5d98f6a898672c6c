"""A stand-in for foul-play's connection: the methods that our launcher touches, with their names."""

import websockets


class PSWebsocketClient:
    @classmethod
    async def create(cls, username, password, address):
        client = cls()
        client.username, client.password = username, password
        client.websocket = await websockets.connect(address, max_size=None)
        return client

    async def receive_message(self):
        return await self.websocket.recv()

    async def send_message(self, room, message_list):
        await self.websocket.send(room + "|" + "|".join(message_list))

    async def get_id_and_challstr(self):
        while "|challstr|" not in await self.receive_message():
            pass

    async def login(self):
        raise AssertionError("the public login server was asked")
