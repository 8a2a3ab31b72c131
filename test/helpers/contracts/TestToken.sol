// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// @title A token that anybody may mint, that can refuse an account as USDC's blacklist does, and that can call back.
contract TestToken is ERC20("test", "TEST") {
    mapping(address account => bool) public blocked;
    address private target;
    bytes private attack;
    bool public attackWorked;

    error Blocked(address account);

    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    function burn(address from, uint256 amount) external {
        _burn(from, amount);
    }

    function setBlocked(address account, bool isBlocked) external {
        blocked[account] = isBlocked;
    }

    /// @dev Calls `target` in the middle of every transfer, before balances move.
    function setAttack(address target_, bytes calldata attack_) external {
        target = target_;
        attack = attack_;
    }

    function transfer(address to, uint256 amount) public override returns (bool) {
        if (blocked[to]) revert Blocked(to);
        if (target != address(0)) {
            (bool done,) = target.call(attack);
            if (done) attackWorked = true;
        }
        return super.transfer(to, amount);
    }
}
