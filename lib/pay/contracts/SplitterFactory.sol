// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Clones} from "@openzeppelin/contracts/proxy/Clones.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {Splitter} from "./Splitter.sol";

/// @title Makes the splitter of each provider of one network.
///
/// @notice A splitter's address follows from the factory and the provider alone, so money can be sent there before it
/// exists and both sides of a channel work it out for themselves. Nobody owns the factory; its treasury is for good.
///
/// @dev Deployed through the deterministic deployer with salt 0, so that its address is the same on every chain and follows
/// from the treasury.
contract SplitterFactory {
    /// @notice The treasury's share of everything, in basis points.
    uint16 public constant BPS = 500;
    /// @notice The code that all splitters run.
    Splitter public immutable template = new Splitter();
    /// @notice Who is paid the share.
    address public immutable treasury;

    event SplitterCreated(address indexed provider, address splitter);

    error ZeroAddress();

    constructor(address treasury_) {
        if (treasury_ == address(0)) revert ZeroAddress();
        treasury = treasury_;
    }

    /// @notice Where the provider's splitter is, or will be.
    function splitterOf(address provider) public view returns (address) {
        return Clones.predictDeterministicAddressWithImmutableArgs(address(template), _args(provider), 0);
    }

    /// @notice Makes the provider's splitter unless it is there. Anybody may.
    function create(address provider) public returns (address splitter) {
        bytes memory args = _args(provider);
        splitter = Clones.predictDeterministicAddressWithImmutableArgs(address(template), args, 0);
        if (splitter.code.length != 0) return splitter;
        Clones.cloneDeterministicWithImmutableArgs(address(template), args, 0);
        emit SplitterCreated(provider, splitter);
    }

    /// @notice Makes the provider's splitter if need be, and has it pay both sides.
    function distribute(address provider, IERC20 token) external returns (uint256 toProvider, uint256 toTreasury) {
        return Splitter(create(provider)).distribute(token);
    }

    function _args(address provider) private view returns (bytes memory) {
        if (provider == address(0)) revert ZeroAddress();
        return abi.encodePacked(provider, treasury, BPS);
    }
}
